// The engine against PyTorch: values and gradients of every case of tests/reference/*.json in each of its
// dtypes. tests/reference/generate.py makes these files and documents their format.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/dtype_names.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

using nlohmann::json;

// Ops with unpredictable values: random numbers and uninitialised memory.
const std::set<std::string> kWithoutValues = {"rand",        "randn",      "randint",   "randperm",
                                              "rand_like",   "randn_like", "bernoulli", "dropout",
                                              "multinomial", "empty",      "poisson"};

// One file: its cases, and the arrays that they refer to.
struct Family {
  json cases;
  std::map<std::string, std::vector<double>> numbers;

  explicit Family(const std::filesystem::path& path) {
    std::ifstream(path) >> cases;
    std::filesystem::path data = path;
    for (const auto& [name, tensor] : load_safetensors(data.replace_extension("safetensors")).tensors)
      numbers[name] = tensor.to_vector<double>();
  }

  // [dtype, shape, array, offset]; dtype "*" is the dtype of the run, "part" that of its real and imaginary
  // part, "complex" the complex type of a real run.
  Tensor tensor(const json& entry, DType run) const {
    const NoGrad off;
    Shape shape;
    for (const int64_t size : entry[1]) shape.push_back(size);
    const double* first = numbers.at(entry[2]).data() + entry[3].get<int64_t>();
    const std::string name = entry[0];
    const DType type = name == "*"         ? run
                       : name == "part"    ? part_type(run)
                       : name == "complex" ? complex_type(run)
                                           : *dtype_from_name(name);
    const DType wide = is_complex(type) ? DType::c128 : DType::f64;
    return to(Tensor::from_bytes(first, size_t(numel(shape)) * item_size(wide), shape, wide), type);
  }
};

Value read_param(const ParamSpec& spec, const json& given) {
  if (given.is_null()) return {};
  if (given.is_array()) {
    Dims list;
    for (const int64_t item : given) list.push_back(item);
    return list;
  }
  if (given == "inf" || given == "-inf") return given == "inf" ? INFINITY : -INFINITY;
  switch (given.is_string() && !spec.choices.empty() ? ParamKind::choice : spec.kind) {
    case ParamKind::dtype:
      return *dtype_from_name(given.get<std::string>());
    case ParamKind::choice:
      for (size_t i = 0; i < spec.choices.size(); ++i)
        if (given == spec.choices[i]) return int64_t(i);
      FAIL(spec.name << ": no choice " << given);
      return {};
    case ParamKind::text:
      return int64_t(intern(given.get<std::string>()));
    case ParamKind::real:
      return given.get<double>();
    case ParamKind::dims:
    case ParamKind::integers:
      return Dims{given.get<int64_t>()};
    default:
      break;
  }
  if (given.is_boolean()) return given.get<bool>();
  return given.is_number_float() ? Value(given.get<double>()) : Value(given.get<int64_t>());
}

Values read_params(const Op& op, const json& given) {
  Values values;
  values.resize(op.params.size());
  for (const auto& [name, value] : given.items()) {
    const auto spec = std::find_if(op.params.begin(), op.params.end(),
                                   [&, &wanted = name](const ParamSpec& s) { return wanted == s.name; });
    REQUIRE_MESSAGE(spec != op.params.end(), op.name << " has no parameter " << name);
    values[size_t(spec - op.params.begin())] = read_param(*spec, value);
  }
  return complete(op, values);
}

// The op's input for the case's operand i: by name if the case names its operands.
size_t place_of(const Op& op, const json& row, size_t i) {
  if (!row.contains("names")) return i;
  for (size_t place = 0; place < op.inputs.size(); ++place)
    if (row["names"][i] == op.inputs[place].name) return place;
  FAIL(op.name << " has no input " << row["names"][i]);
  return 0;
}

TensorList read_operands(const Family& family, const Op& op, const json& row, DType run) {
  const bool list = !op.inputs.empty() && op.inputs.back().list;
  TensorList operands(list ? 0 : op.inputs.size());
  for (size_t i = 0; i < row["in"].size(); ++i) {
    const json& entry = row["in"][i];
    const size_t place = place_of(op, row, i);
    operands.resize(std::max(operands.size(), place + 1));
    Tensor& x = operands[place];
    if (entry.is_array()) x = family.tensor(entry, run);
    if (entry.is_number())
      x = entry.is_number_float() ? Tensor::number(entry.get<double>())
                                  : Tensor::number(entry.get<int64_t>());
    if (row.contains("grad") && !row["grad"][i].is_null()) x.requires_grad_();
  }
  return operands;
}

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

// Odd multiples of 1/64, like upstream() of the generator.
Tensor upstream(const Tensor& y) {
  const bool complex = is_complex(y.dtype());
  std::vector<double> values(size_t(y.numel()) * (complex ? 2 : 1));
  for (size_t i = 0; i < values.size(); ++i) values[i] = (2.0 * double((i * 37 + 11) % 64) - 63) / 64;
  const DType wide = complex ? DType::c128 : DType::f64;
  return to(Tensor::from_bytes(values.data(), values.size() * sizeof(double), y.shape(), wide), y.dtype());
}

// Describes the failure of the case in that dtype; "" if there is none.
std::string run_case(const Family& family, const Op& op, const json& row, DType run) {
  const double tolerance = row.value("tolerance", 1.0);
  const TensorList operands = read_operands(family, op, row, run);
  const Operands outputs = apply(op, operands, read_params(op, row.value("params", json::object())));
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
    const Family family(path);
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
