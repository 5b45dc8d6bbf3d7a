#include "runtime/core/dtype.h"

#include <algorithm>
#include <array>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

struct Row {
  const char* name;
  size_t bytes;
};
constexpr std::array<Row, kDTypeCount> kRows{{{"bool", 1},
                                              {"u8", 1},
                                              {"i32", 4},
                                              {"i64", 8},
                                              {"f16", 2},
                                              {"bf16", 2},
                                              {"f32", 4},
                                              {"f64", 8},
                                              {"c64", 8},
                                              {"c128", 16}}};

}  // namespace

size_t item_size(DType t) { return kRows[size_t(t)].bytes; }
const char* dtype_name(DType t) { return kRows[size_t(t)].name; }
std::ostream& operator<<(std::ostream& out, DType t) { return out << dtype_name(t); }

// The enumeration is in order of promotion, with two exceptions: neither 16-bit float contains the other, and
// f64 with c64 gives c128.
DType promote(DType a, DType b) {
  if (a != b && is_16bit_float(a) && is_16bit_float(b)) return DType::f32;
  if (is_complex(a) || is_complex(b)) return std::max(complex_type(a), complex_type(b));
  return std::max(a, b);
}

void refuse_complex(DType t) { fail("complex numbers are not supported here (got ", t, ")"); }

// The conversions from and to float follow the bit layout of IEEE 754-2008: binary16 has 5 exponent bits
// (bias 15) and 10 mantissa bits.
Half::Half(float value) {
  const uint32_t raw = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (raw >> 16) & 0x8000;
  const uint32_t magnitude = raw & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    bits = uint16_t(sign | 0x7e00);
  } else if (magnitude >= 0x477ff000) {  // 65520 and above round to infinity
    bits = uint16_t(sign | 0x7c00);
  } else if (magnitude < 0x38800000) {  // below 2^-14: subnormal; adding 0.5 aligns the mantissa and rounds
    const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
    bits = uint16_t(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000));
  } else {
    const uint32_t rebased = magnitude - 0x38000000;
    bits = uint16_t(sign | ((rebased + 0xfff + ((rebased >> 13) & 1)) >> 13));
  }
}

Half::operator float() const {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
  if (magnitude < 0x400)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(float(magnitude) * 0x1p-24f));
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
}

}  // namespace lunagrad
