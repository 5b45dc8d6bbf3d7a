// `lunagrad compare A B`: compares the arrays of two files, of any format, by name. Prints each array that
// only one file has, whose shape or dtype differs, or whose values differ by more than the tolerances, with
// the largest difference.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <map>
#include <memory>

#include "runtime/core/error.h"
#include "runtime/io/format.h"
#include "runtime/ops.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/runner.h"
#include "script/cli/command/all.h"

namespace lunagrad {
namespace {

struct CompareRequest {
  std::string a, b;
  double rtol = 0, atol = 0;
};

std::string type_and_shape(const Tensor& x) { return text(x.dtype(), " ", x.shape()); }

// How many elements differ and by how much: "3 of 10 elements differ, by up to 0.25". "" when all are close:
// |a - b| <= atol + rtol |b|; NaN equals NaN.
std::string difference(const Tensor& a, const Tensor& b, const CompareRequest& request) {
  const Tensor differs = logical_not(isclose(a, b, request.rtol, request.atol, true));
  const int64_t count = sum(differs).to_vector<int64_t>()[0];
  if (count == 0) return "";
  const DType double_type = is_complex(a.dtype()) ? DType::c128 : DType::f64;
  // A NaN against a number has no difference, nor have equal infinities: they do not count for the largest.
  const Tensor distance =
      nan_to_num(abs(to(a, double_type) - to(b, double_type)), 0, std::numeric_limits<double>::infinity());
  char line[160];
  std::snprintf(line, sizeof line, "%lld of %lld elements differ, by up to %.3g",
                static_cast<long long>(count), static_cast<long long>(a.numel()),
                amax(distance).to_vector<double>()[0]);
  return line;
}

int compare(const CompareRequest& request) {
  NamedTensors first = load_arrays(request.a).tensors, second = load_arrays(request.b).tensors;
  // Two files with a single array each are compared whatever its name.
  if (first.size() == 1 && second.size() == 1) second[0].first = first[0].first;
  std::map<std::string, Tensor> others(second.begin(), second.end());
  int64_t equal = 0, differ = 0;
  const auto report = [&](const std::string& name, const std::string& fact) {
    ++differ;
    std::cout << name << ": " << fact << "\n";
  };
  for (const auto& [name, a] : first) {
    const auto found = others.find(name);
    if (found == others.end()) {
      report(name, "only in " + request.a + ", " + type_and_shape(a));
      continue;
    }
    const Tensor b = found->second;
    others.erase(found);
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
      report(name, type_and_shape(a) + " and " + type_and_shape(b));
    } else if (const std::string fact = difference(a, b, request); !fact.empty()) {
      report(name, fact);
    } else {
      ++equal;
    }
  }
  for (const auto& [name, b] : others) report(name, "only in " + request.b + ", " + type_and_shape(b));
  std::cout << equal << " equal, " << differ << " different\n";
  return differ ? kExitDiffers : 0;
}

}  // namespace

Action add_compare(Program& program) {
  const auto request = std::make_shared<CompareRequest>();
  CLI::App& command =
      add_command(program, "compare", "compare the arrays of two files; exit code 7 if they differ: A B");
  add_argument(command, "A", request->a, "an array file; see lunagrad help formats");
  add_argument(command, "B", request->b, "another, of any format");
  const std::pair<double, double> range{0, std::numeric_limits<double>::max()};
  add_option(command, "--rtol", request->rtol, range,
             "relative tolerance: |a - b| <= atol + rtol |b| (default 0)");
  add_option(command, "--atol", request->atol, range, "absolute tolerance (default 0)");
  return [=] {
    return carry_out(
        "compare", [&] { return compare(*request); }, Outcome::file);
  };
}

}  // namespace lunagrad
