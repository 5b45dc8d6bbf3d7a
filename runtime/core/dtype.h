#pragma once
// Element types: their sizes, names, promotion rules (PyTorch's) and the 16-bit float formats. Pure values.
// A complex element is a pair of floats, the real part first.
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

namespace lunagrad {

enum class DType : uint8_t { boolean, u8, i32, i64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int kDTypeCount = 10;

size_t item_size(DType);        // bytes of one element
const char* dtype_name(DType);  // "f32", "bool", …
std::ostream& operator<<(std::ostream&, DType);

constexpr bool is_complex(DType t) { return t >= DType::c64; }
constexpr bool is_floating(DType t) { return t >= DType::f16 && !is_complex(t); }  // floating and real
constexpr bool is_differentiable(DType t) { return t >= DType::f16; }              // floating or complex
constexpr bool is_integral(DType t) { return t < DType::f16; }                     // bool counts as integral
constexpr bool is_16bit_float(DType t) { return t == DType::f16 || t == DType::bf16; }
// The type in which sums are kept and compositions compute: f32 for f16 and bf16, else the type itself.
constexpr DType accumulate_type(DType t) { return is_16bit_float(t) ? DType::f32 : t; }

// Type promotion of two tensors, as in PyTorch (u8 + i32 = i32, i64 + f16 = f16, f16 + bf16 = f32,
// f64 + c64 = c128).
DType promote(DType, DType);
// The complex type whose parts hold a type's values (c128 for f64, else c64), and the type of a complex
// type's real and imaginary part.
constexpr DType complex_type(DType t) {
  return t == DType::f64 || t == DType::c128 ? DType::c128 : DType::c64;
}
constexpr DType part_type(DType t) {
  return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t;
}
[[noreturn]] void refuse_complex(DType);  // Error: complex numbers are not supported here

// IEEE 754 binary16. Converts through float; rounds to nearest even.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float);
  explicit operator float() const;
};

// bfloat16: the upper 16 bits of a float. Rounds to nearest even; NaN stays NaN.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t raw = std::bit_cast<uint32_t>(value);
    bits =
        std::isnan(value) ? uint16_t((raw >> 16) | 0x40) : uint16_t((raw + 0x7fff + ((raw >> 16) & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

// T, or for a complex T the type of its real and imaginary part.
template <class T>
struct PartOf {
  using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Part = typename PartOf<T>::type;

// Casts an element. Float to integer saturates, and NaN gives 0. A bool is "not zero". A real type takes the
// real part of a complex number.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_complex_v<To> && is_complex_v<From>) {
    return To(value);
  } else if constexpr (is_complex_v<To>) {
    return To(convert<Part<To>>(value));
  } else if constexpr (is_complex_v<From> && std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (is_complex_v<From>) {
    return convert<To>(value.real());
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(float(value));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (!(value == value)) return 0;
    // 2^63 as a float is the first value that does not fit, so the upper comparison is >=.
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// C++ type of an element, and back.
template <class T>
struct dtype_of_;
template <>
struct dtype_of_<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct dtype_of_<uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct dtype_of_<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of_<int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct dtype_of_<Half> {
  static constexpr DType value = DType::f16;
};
template <>
struct dtype_of_<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct dtype_of_<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of_<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct dtype_of_<std::complex<float>> {
  static constexpr DType value = DType::c64;
};
template <>
struct dtype_of_<std::complex<double>> {
  static constexpr DType value = DType::c128;
};
template <class T>
inline constexpr DType dtype_of = dtype_of_<T>::value;

// Calls f.template operator()<T>() with the element type: visit_dtype(t, [&]<class T>() { … }). Error for
// complex types.
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::boolean:
      return f.template operator()<bool>();
    case DType::u8:
      return f.template operator()<uint8_t>();
    case DType::i32:
      return f.template operator()<int32_t>();
    case DType::i64:
      return f.template operator()<int64_t>();
    case DType::f16:
      return f.template operator()<Half>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    default:
      refuse_complex(t);
  }
}

// visit_dtype() for real and complex types: for code that moves, compares or adds elements.
template <class F>
decltype(auto) visit_any_dtype(DType t, F&& f) {
  if (t == DType::c64) return f.template operator()<std::complex<float>>();
  if (t == DType::c128) return f.template operator()<std::complex<double>>();
  return visit_dtype(t, f);
}

}  // namespace lunagrad
