#include "tests/samples/reference_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/core/dtype_names.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {

using nlohmann::json;

namespace {

// JSON has no infinite numbers and no NaN; they are texts.
bool is_special(const json& given) { return given == "inf" || given == "-inf" || given == "nan"; }
double special(const json& given) { return given == "nan" ? NAN : given == "inf" ? INFINITY : -INFINITY; }

Value read_param(const Op& op, const ParamSpec& spec, const json& given) {
  if (given.is_null()) return {};
  if (given.is_array()) {
    Dims list;
    for (const int64_t item : given) list.push_back(item);
    return list;
  }
  if (is_special(given)) return special(given);
  switch (given.is_string() && !spec.choices.empty() ? ParamKind::choice : spec.kind) {
    case ParamKind::dtype:
      return *dtype_from_name(given.get<std::string>());
    case ParamKind::choice:
      for (size_t i = 0; i < spec.choices.size(); ++i)
        if (given == spec.choices[i]) return int64_t(i);
      fail(op.name, ": ", spec.name, " has no choice ", given.dump());
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

}  // namespace

ReferenceFile::ReferenceFile(const std::filesystem::path& cases_path,
                             const std::filesystem::path& numbers_path) {
  std::ifstream(cases_path) >> cases;
  for (const auto& [name, tensor] : load_safetensors(numbers_path).tensors)
    numbers[name] = tensor.to_vector<double>();
}

Tensor ReferenceFile::tensor(const json& entry, DType run) const {
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

TensorList ReferenceFile::operands(const Op& op, const json& row, DType run, Device& device) const {
  const bool list = !op.inputs.empty() && op.inputs.back().list;
  TensorList operands(list ? 0 : op.inputs.size());
  for (size_t i = 0; i < row["in"].size(); ++i) {
    const json& entry = row["in"][i];
    const size_t place = place_of(op, row, i);
    operands.resize(std::max(operands.size(), place + 1));
    Tensor& x = operands[place];
    if (entry.is_array()) x = to(tensor(entry, run), device);
    if (is_special(entry)) x = Tensor::number(special(entry));
    if (entry.is_number())
      x = entry.is_number_float() ? Tensor::number(entry.get<double>())
                                  : Tensor::number(entry.get<int64_t>());
    if (row.contains("grad") && !row["grad"][i].is_null()) x.requires_grad_();
  }
  return operands;
}

size_t place_of(const Op& op, const json& row, size_t i) {
  if (!row.contains("names")) return i;
  for (size_t place = 0; place < op.inputs.size(); ++place)
    if (row["names"][i] == op.inputs[place].name) return place;
  fail(op.name, " has no input ", row["names"][i].dump());
}

Values read_params(const Op& op, const json& row) {
  Values values;
  values.resize(op.params.size());
  const json given = row.value("params", json::object());
  for (const auto& [name, value] : given.items()) {
    const auto spec = std::find_if(op.params.begin(), op.params.end(),
                                   [&, &wanted = name](const ParamSpec& s) { return wanted == s.name; });
    if (spec == op.params.end()) fail(op.name, " has no parameter ", name);
    values[size_t(spec - op.params.begin())] = read_param(op, *spec, value);
  }
  return complete(op, values);
}

Tensor upstream(const Tensor& output) {
  const bool complex = is_complex(output.dtype());
  std::vector<double> values(size_t(output.numel()) * (complex ? 2 : 1));
  for (size_t i = 0; i < values.size(); ++i) values[i] = (2.0 * double((i * 37 + 11) % 64) - 63) / 64;
  const DType wide = complex ? DType::c128 : DType::f64;
  return to(to(Tensor::from_bytes(values.data(), values.size() * sizeof(double), output.shape(), wide),
               output.dtype()),
            output.device());
}

}  // namespace lunagrad::tests
