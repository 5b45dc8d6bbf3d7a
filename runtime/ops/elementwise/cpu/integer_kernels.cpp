#include <cstring>
#include <utility>

#include "runtime/elementwise/row_list.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/elementwise/cpu/integer.h"

namespace lunagrad {
namespace integers {
namespace {

#include "runtime/elementwise/rows.h"

// A separate loop for each combination of repeated operands, so that the compiler can vectorise it.
template <class R, class T, bool... Repeats>
inline void integer_loop(const Stretch& s) {
  constexpr bool kRepeats[] = {Repeats..., true, true};  // missing operands count as repeated
  const T *a = static_cast<const T*>(s.in[0]), *b = a, *c = a;
  if constexpr (sizeof...(Repeats) > 1) b = static_cast<const T*>(s.in[1]);
  if constexpr (sizeof...(Repeats) > 2) c = static_cast<const T*>(s.in[2]);
  const T a0 = *a, b0 = *b, c0 = *c;
  const typename R::template Params<Integer<T>> p(s.params);
  const auto at = [=](int64_t i) {
    return R::value(Integer<T>(kRepeats[0] ? a0 : a[i]), Integer<T>(kRepeats[1] ? b0 : b[i]),
                    Integer<T>(kRepeats[2] ? c0 : c[i]), p);
  };
  using Result = std::conditional_t<std::is_same_v<decltype(at(0)), bool>, uint8_t, T>;
  const auto result = [=](int64_t i) -> Result {
    if constexpr (std::is_same_v<decltype(at(0)), bool>)
      return at(i);
    else
      return at(i).v;
  };
  // Writes to a local buffer first: bytes may alias any operand, so direct stores would prevent
  // vectorisation.
  constexpr int64_t kPart = 64;
  Result* out = static_cast<Result*>(s.out);
  int64_t i = 0;
  for (; i + kPart <= s.count; i += kPart) {
    Result part[kPart];
    for (int64_t k = 0; k < kPart; ++k) part[k] = result(i + k);
    std::memcpy(out + i, part, sizeof part);
  }
  for (; i < s.count; ++i) out[i] = result(i);
}
template <class R, int Arity, class T>
void integer_value_of(const Stretch& s) {
  const auto choose = [&]<bool... Known>(const auto& self, std::integer_sequence<bool, Known...>) {
    if constexpr (sizeof...(Known) == Arity) {
      integer_loop<R, T, Known...>(s);
    } else if (s.step[sizeof...(Known)] == 0) {
      self(self, std::integer_sequence<bool, Known..., true>());
    } else {
      self(self, std::integer_sequence<bool, Known..., false>());
    }
  };
  choose(choose, std::integer_sequence<bool>());
}

template <class R, int Arity, RowTypes Types>
constexpr IntegerKernels kernels_of() {
  if constexpr (Types == RowTypes::kfloat)
    return {};
  else
    return {{integer_value_of<R, Arity, int32_t>, integer_value_of<R, Arity, int64_t>,
             integer_value_of<R, Arity, uint8_t>}};
}

#define EW1(name, params, types, result, facts, value, gx, lo, hi, doc) \
  kernels_of<name##_row, 1, RowTypes::k##types>(),
#define EW2(name, inputs, params, types, result, facts, value, ga, gb, lo, hi, doc) \
  kernels_of<name##_row, 2, RowTypes::k##types>(),
#define EW3(name, inputs, params, types, result, facts, value, ga, gb, gc, lo, hi, doc) \
  kernels_of<name##_row, 3, RowTypes::k##types>(),
constexpr IntegerKernels kKernels[kRowCount] = {
#include "runtime/elementwise/elementwise.def"
};

}  // namespace
}  // namespace integers

const IntegerKernels& integer_kernels(int row) { return integers::kKernels[row]; }

}  // namespace lunagrad
