// The engine against PyTorch: values and gradients of every case of tests/reference/*.json in each of its
// dtypes. tests/reference/generate.py makes these files and documents their format.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "folders.h"
#include "runtime/core/dtype_names.h"
#include "runtime/core/numbers.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/samples/reference_file.h"

namespace lunagrad::tests {
namespace {

using nlohmann::json;

// Ops with unpredictable values: random numbers and uninitialised memory.
const std::set<std::string> kWithoutValues = {"rand",        "randn",      "randint",   "randperm",
                                              "rand_like",   "randn_like", "bernoulli", "dropout",
                                              "multinomial", "empty",      "poisson"};

double bound(DType t) {
  return part_type(t) == DType::f64   ? 1e-9
         : part_type(t) == DType::f32 ? 1e-5
         : t == DType::f16            ? 2e-3
         : t == DType::bf16           ? 1.6e-2
                                      : 0;
}

// Describes the difference from the expected values; "" if there is none.
std::string compare(const Tensor& got, const Tensor& expected, double tolerance) {
  if (!(got.shape() == expected.shape())) return text("shape ", got.shape(), ", expected ", expected.shape());
  if (got.dtype() != expected.dtype()) return text("type ", got.dtype(), ", expected ", expected.dtype());
  const std::vector<double> x = numbers_of(got), y = numbers_of(expected);
  double largest = 0;
  for (const double value : y)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const double allowed = bound(got.dtype()) * tolerance * (largest > 0 ? largest : 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i] || std::abs(x[i] - y[i]) <= allowed) continue;
    return text("element ", i, " is ", x[i], ", expected ", y[i], " within ", allowed);
  }
  return {};
}

// Describes the failure of the case in that dtype; "" if there is none.
std::string run_case(const ReferenceFile& family, const Op& op, const json& row, DType run) {
  const double tolerance = row.value("tolerance", 1.0);
  const TensorList operands = family.operands(op, row, run, cpu_device());
  const Operands outputs = apply(op, operands, read_params(op, row));
  if (outputs.size() != row["out"].size())
    return text(outputs.size(), " outputs, expected ", row["out"].size());
  TensorList roots, seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!row["out"][i].is_array()) continue;  // PyTorch has no value for this output
    const std::string wrong = compare(outputs[i], family.tensor(row["out"][i], run), tolerance);
    if (!wrong.empty()) return text("output ", i, ": ", wrong);
    if (!outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    seeds.push_back(upstream(outputs[i]));
  }
  if (!row.contains("grad")) return {};
  TensorList wanted, expected;
  for (size_t i = 0; i < row["grad"].size(); ++i) {
    if (row["grad"][i].is_null()) continue;
    wanted.push_back(operands[place_of(op, row, i)]);
    expected.push_back(family.tensor(row["grad"][i], run));
  }
  // An op that is not differentiable has zero gradients.
  const TensorList gradients =
      roots.empty() ? TensorList(wanted.size()) : grad(roots, wanted, seeds, {.allow_unused = true});
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Tensor gradient = gradients[i].defined() ? gradients[i] : zeros_like(wanted[i].detach());
    const std::string wrong = compare(gradient, expected[i], tolerance);
    if (!wrong.empty()) return text("gradient of input ", i, ": ", wrong);
  }
  return {};
}

// The names of all functions of PyTorch.
std::set<std::string> torch_names() {
  std::ifstream file(LUNAGRAD_SOURCE_DIR "/tests/reference/torch_names.txt");
  std::set<std::string> names;
  for (std::string name; std::getline(file, name);) names.insert(name);
  return names;
}

std::vector<std::filesystem::path> family_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(LUNAGRAD_SOURCE_DIR "/tests/reference"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("every op gives PyTorch's values and gradients") {
  std::set<std::string> covered;
  size_t passed = 0, all = 0;
  for (const auto& path : family_files()) {
    std::filesystem::path data = path;
    const ReferenceFile family(path, data.replace_extension("safetensors"));
    for (const json& row : family.cases) {
      const std::string name = row["op"];
      const Op* op = find_op(name);
      REQUIRE_MESSAGE(op, path << " names an op that does not exist: " << name);
      covered.insert(name);
      for (const std::string type : row["types"]) {
        std::string wrong;
        try {
          wrong = run_case(family, *op, row, *dtype_from_name(type));
        } catch (const Error& error) {
          wrong = error.what();
        }
        ++all;
        passed += wrong.empty();
        CHECK_MESSAGE(wrong.empty(), row.dump() << " in " << type << ": " << wrong);
      }
    }
  }
  // The composition, finite differences and double precision suffice for an op that PyTorch does not have.
  const std::set<std::string> torch = torch_names();
  REQUIRE(torch.count("softmax"));
  for (const Op* op : all_ops())
    if (!op->hidden() && torch.count(op->name) && !kWithoutValues.count(op->name))
      CHECK_MESSAGE(covered.count(op->name),
                    std::string(op->name)
                        << " exists in PyTorch and has no case: run tests/reference/generate.py examples");
  std::printf("%zu of %zu reference cases of %zu ops pass\n", passed, all, covered.size());
}

}  // namespace
}  // namespace lunagrad::tests
