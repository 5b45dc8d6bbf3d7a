#pragma once
// Shapes, strides and dtypes that the host gives. LG_INVALID_ARGUMENT for what no tensor can have. Pure.
#include "capi/wall.h"
#include "runtime/core/dtype.h"
#include "runtime/core/shape.h"

namespace lunagrad::capi {

static_assert(LG_MAX_DIMS == kMaxDims && LG_BOOL == int(DType::boolean) && LG_I64 == int(DType::i64) &&
              LG_BF16 == int(DType::bf16) && LG_F32 == int(DType::f32) && LG_C128 == int(DType::c128) &&
              kDTypeCount == 10);

inline DType dtype_from(lg_dtype dtype) {
  if (dtype < 0 || dtype >= kDTypeCount) refuse(LG_INVALID_ARGUMENT, "there is no dtype ", dtype);
  return DType(dtype);
}

// `count` integers, 0 to LG_MAX_DIMS of them.
inline Dims dims_from(const int64_t* values, size_t count, const char* name) {
  if (count > size_t(kMaxDims))
    refuse(LG_INVALID_ARGUMENT, name, " has ", count, " numbers, more than ", kMaxDims);
  if (count) require(values, name);
  return Dims(std::span<const int64_t>(values, count));
}

// Its number of elements is checked by numel().
inline Shape shape_from(const int64_t* shape, size_t ndim) { return dims_from(shape, ndim, "shape"); }

}  // namespace lunagrad::capi
