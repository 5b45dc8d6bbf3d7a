#include "runtime/core/script_numbers.h"

#include <cmath>
#include <limits>

namespace lunagrad {

void check_converts(const char* op, DType type, const Value& value) {
  const auto check = [&](auto number, bool fits) {
    if (!fits) fail(op, ": the value ", number, " cannot be converted to ", type, " without overflow");
  };
  const auto check_range = [&]<class T>(T) {
    constexpr int64_t kLeast = std::is_signed_v<T> ? int64_t(std::numeric_limits<T>::min()) : -255;
    constexpr int64_t kMost = int64_t(std::numeric_limits<T>::max());
    if (value.kind == Value::Kind::integer) check(value.i, value.i >= kLeast && value.i <= kMost);
    if (value.kind == Value::Kind::real)  // compares as double: the bounds of i64 are not exact there
      check(value.f, std::trunc(value.f) >= double(std::numeric_limits<T>::min()) &&
                         std::trunc(value.f) < double(kMost) + 1);
  };
  if (type == DType::u8) check_range(uint8_t());
  if (type == DType::i32) check_range(int32_t());
  if (type == DType::i64) check_range(int64_t());
}

Value value_of(const Tensor& number) {
  if (is_floating(number.dtype())) return number.item();
  if (number.dtype() == DType::boolean) return number.item() != 0;
  return number.item_integer();
}

}  // namespace lunagrad
