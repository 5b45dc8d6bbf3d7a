#include "runtime/dist/reduce.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "runtime/core/error.h"

namespace lunagrad::dist {
namespace {

constexpr int64_t kBlock = 2048;  // elements that are reduced at a time, to stay in the cache

constexpr Reduction kReductions[] = {Reduction::sum, Reduction::mean, Reduction::product, Reduction::min,
                                     Reduction::max};

// The type in which elements are added.
template <class T>
struct AccumulateType {
  using type = T;
};
template <>
struct AccumulateType<Half> {
  using type = float;
};
template <>
struct AccumulateType<BFloat16> {
  using type = float;
};

template <class A>
A add(A a, A b) {
  if constexpr (std::is_same_v<A, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<A>) {  // overflow wraps around, as in tensors
    using U = std::make_unsigned_t<A>;
    return A(U(a) + U(b));
  } else {
    return a + b;
  }
}

template <class A>
A multiply(A a, A b) {
  if constexpr (std::is_same_v<A, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<A>) {
    return A(uint64_t(a) * uint64_t(b));
  } else {
    return a * b;
  }
}

template <class A>
A smaller(A a, A b) {
  if constexpr (is_complex_v<A>) {
    return a;  // check_reduction refuses this
  } else {
    if (a != a) return a;
    if (b != b) return b;
    return b < a ? b : a;
  }
}

template <class A>
A larger(A a, A b) {
  if constexpr (is_complex_v<A>) {
    return a;
  } else {
    if (a != a) return a;
    if (b != b) return b;
    return a < b ? b : a;
  }
}

template <class A, class F>
void combine(A* out, const A* more, int64_t count, F&& f) {
  for (int64_t i = 0; i < count; ++i) out[i] = f(out[i], more[i]);
}

// Reduces one block of `n` parts, beginning with part `first`, into out; `spare` has a block for each level
// below.
template <class T, class A>
void reduce_block(Reduction reduction, const void* const* parts, int n, int64_t at, int64_t count, A* out,
                  A* spare) {
  if (n == 1) {
    const T* const part = static_cast<const T*>(parts[0]) + at;
    for (int64_t i = 0; i < count; ++i) out[i] = A(part[i]);
    return;
  }
  const int first = first_part(n);
  reduce_block<T>(reduction, parts, first, at, count, out, spare);
  reduce_block<T>(reduction, parts + first, n - first, at, count, spare, spare + kBlock);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::mean:
      return combine(out, spare, count, add<A>);
    case Reduction::product:
      return combine(out, spare, count, multiply<A>);
    case Reduction::min:
      return combine(out, spare, count, smaller<A>);
    case Reduction::max:
      return combine(out, spare, count, larger<A>);
  }
}

template <class T>
void reduce_all(Reduction reduction, const void* const* parts, int n, int64_t count, T* out) {
  using A = typename AccumulateType<T>::type;
  const size_t levels = size_t(std::bit_width(unsigned(n))) + 2;
  const std::unique_ptr<A[]> memory(new A[levels * size_t(kBlock)]);
  A* const result = memory.get();
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t here = std::min(kBlock, count - at);
    reduce_block<T>(reduction, parts, n, at, here, result, result + kBlock);
    if constexpr (!std::is_integral_v<A>) {
      if (reduction == Reduction::mean)
        for (int64_t i = 0; i < here; ++i) result[i] = result[i] / A(float(n));
    }
    for (int64_t i = 0; i < here; ++i) out[at + i] = T(result[i]);
  }
}

}  // namespace

const char* reduction_name(Reduction reduction) {
  constexpr const char* kNames[] = {"sum", "mean", "product", "min", "max"};
  return kNames[int(reduction)];
}

Reduction reduction_of(const char* op, std::string_view name) {
  for (const Reduction reduction : kReductions)
    if (name == reduction_name(reduction)) return reduction;
  fail(op, ": there is no reduction '", name, "'; there are sum, mean, product, min, max");
}

void check_reduction(const char* op, Reduction reduction, DType dtype) {
  const bool ordered = reduction == Reduction::min || reduction == Reduction::max;
  if (ordered && is_complex(dtype)) fail(op, ": ", dtype, " has no ", reduction_name(reduction));
  if (reduction == Reduction::mean && is_integral(dtype))
    fail(op, ": the mean of ", dtype, " is no ", dtype, "; write x:float() first, or take the sum");
}

int first_part(int n) { return int(std::bit_ceil(unsigned(n)) / 2); }

void reduce(Reduction reduction, DType dtype, const void* const* parts, int n, int64_t count, void* out) {
  visit_any_dtype(dtype, [&]<class T>() { reduce_all<T>(reduction, parts, n, count, static_cast<T*>(out)); });
}

}  // namespace lunagrad::dist
