#pragma once
// A file of reference cases, tests/reference/*.json and tests/reference/ends/*.json: calls of ops with
// operands and expected results, whose numbers are in arrays of a safetensors file.
// tests/reference/generate.py documents the format.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad::tests {

struct ReferenceFile {
  nlohmann::json cases;
  std::map<std::string, std::vector<double>> numbers;

  explicit ReferenceFile(const std::filesystem::path& cases_path, const std::filesystem::path& numbers_path);

  // [dtype, shape, array, offset]; dtype "*" is the dtype of the run, "part" the type of its real and
  // imaginary part, "complex" the complex type of a real run.
  Tensor tensor(const nlohmann::json& entry, DType run) const;
  // The operands of a case, on that device, in the op's order; those with a gradient require it.
  TensorList operands(const Op&, const nlohmann::json& row, DType run, Device&) const;
};

// The op's input for the case's operand i: by name if the case names its operands.
size_t place_of(const Op&, const nlohmann::json& row, size_t i);

// The parameters of a case, with fallbacks for those that are missing.
Values read_params(const Op&, const nlohmann::json& row);

// The gradient that arrives at an output: odd multiples of 1/64, as upstream() of the generators has them.
Tensor upstream(const Tensor& output);

}  // namespace lunagrad::tests
