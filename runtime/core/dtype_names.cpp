#include "runtime/core/dtype_names.h"

namespace lunagrad {

std::span<const std::pair<std::string_view, DType>> torch_dtypes() {
  static constexpr std::pair<std::string_view, DType> kNames[] = {
      {"bool", DType::boolean},    {"uint8", DType::u8},      {"int32", DType::i32},
      {"int", DType::i32},         {"int64", DType::i64},     {"long", DType::i64},
      {"float16", DType::f16},     {"half", DType::f16},      {"bfloat16", DType::bf16},
      {"float32", DType::f32},     {"float", DType::f32},     {"float64", DType::f64},
      {"double", DType::f64},      {"complex64", DType::c64}, {"cfloat", DType::c64},
      {"complex128", DType::c128}, {"cdouble", DType::c128}};
  return kNames;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == dtype_name(DType(i))) return DType(i);
  for (const auto& [torch, dtype] : torch_dtypes())
    if (name == torch) return dtype;
  return std::nullopt;
}

}  // namespace lunagrad
