// The floating-point loops of the elementwise rows, compiled for each SIMD target. CMake makes several
// sources that include this file, each with another LUNAGRAD_SHARD: a shard has the rows whose number is
// LUNAGRAD_SHARD modulo kRowShards. One source with all rows would take minutes to compile.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/elementwise/cpu/elementwise_shard.h"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/cache_control.h"
#include "runtime/cpu/vector.h"
#include "runtime/elementwise/row_list.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

#include "runtime/elementwise/rows.h"

// Partial vectors: masked loads and stores where the instruction set has them, else through a buffer.
#if HWY_TARGET <= HWY_AVX2
template <class T>
HWY_INLINE Vector<T> load_some(const T* from, size_t count) {
  const hn::ScalableTag<T> d;
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
}
template <class T>
HWY_INLINE void store_some(Vector<T> x, T* to, size_t count) {
  const hn::ScalableTag<T> d;
  hn::BlendedStore(x.v, hn::FirstN(d, count), d, to);
}
#else
template <class T>
HWY_INLINE Vector<T> load_some(const T* from, size_t count) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T buffer[HWY_LANES(T)] = {};
  std::memcpy(buffer, from, count * sizeof(T));
  return hn::Load(d, buffer);
}
template <class T>
HWY_INLINE void store_some(Vector<T> x, T* to, size_t count) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T buffer[HWY_LANES(T)];
  hn::Store(x.v, d, buffer);
  std::memcpy(to, buffer, count * sizeof(T));
}
#endif

template <class T>
HWY_INLINE void store(Vector<T> x, T* to) {
  hn::StoreU(x.v, hn::ScalableTag<T>(), to);
}
template <class T>
HWY_INLINE void stream(Vector<T> x, T* to) {
  hn::Stream(x.v, hn::ScalableTag<T>(), to);
}

// Stores a mask as bool bytes, eight at a time: byte i of the product keeps bit i of the mask.
template <class T>
HWY_INLINE void store_some(Mask<T> x, uint8_t* to, size_t count) {
  uint8_t bits[8] = {};
  hn::StoreMaskBits(hn::ScalableTag<T>(), x.m, bits);
  for (size_t i = 0; i < count; i += 8) {
    const uint64_t spread = bits[i / 8] * 0x0101010101010101u & 0x8040201008040201u;
    const uint64_t bytes = (spread + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
    if (count - i >= 8)
      std::memcpy(to + i, &bytes, 8);
    else
      std::memcpy(to + i, &bytes, count - i);
  }
}
template <class T>
HWY_INLINE void store(Mask<T> x, uint8_t* to) {
  if constexpr (sizeof(T) == 4) {
    const hn::ScalableTag<int32_t> d;
    const hn::Rebind<uint8_t, decltype(d)> bytes;
    hn::StoreU(hn::DemoteTo(bytes, hn::IfThenElseZero(hn::RebindMask(d, x.m), hn::Set(d, 1))), bytes, to);
  } else {
    store_some(x, to, HWY_LANES(T));
  }
}

// Bytes of conditions are stored with normal stores.
template <class T>
HWY_INLINE void stream(Mask<T> x, uint8_t* to) {
  store(x, to);
}

template <class T>
T* output(Vector<T>, void* out) {
  return static_cast<T*>(out);
}
template <class T>
uint8_t* output(Mask<T>, void* out) {
  return static_cast<uint8_t*>(out);
}

// Calls f with consecutive vectors of each of N operands and stores the results. An operand of step 0 is
// broadcast to a vector in memory, which is read each time.
template <class T, class F, size_t... I>
HWY_INLINE void for_each_vector(const Stretch& s, const F& f, std::index_sequence<I...>) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = int64_t(HWY_LANES(T));
  HWY_ALIGN T repeated[sizeof...(I)][HWY_LANES(T)];
  const T* at[] = {static_cast<const T*>(s.in[I])...};
  const int64_t stride[] = {s.step[I] * kLanes...};
  ((stride[I] == 0 ? (hn::Store(hn::Set(d, *at[I]), d, repeated[I]), at[I] = repeated[I]) : at[I]), ...);
  auto* out = output(f(Vector<T>(double(I))...), s.out);
  const bool past_caches = s.past_caches;  // a store may alias s
  int64_t left = s.count;
  // Two vectors at a time: otherwise the loop's own arithmetic would take as long as an addition.
  for (; !past_caches && left >= 2 * kLanes; left -= 2 * kLanes, out += 2 * kLanes) {
    const auto y = f(Vector<T>(hn::LoadU(d, at[I]))...);
    const auto z = f(Vector<T>(hn::LoadU(d, at[I] + stride[I]))...);
    store(y, out);
    store(z, out + kLanes);
    ((at[I] += 2 * stride[I]), ...);
  }
  for (; left > 0; left -= kLanes, out += kLanes) {
    if (HWY_LIKELY(left >= kLanes)) {
      const auto y = f(Vector<T>(hn::LoadU(d, at[I]))...);
      past_caches ? stream(y, out) : store(y, out);
      ((at[I] += stride[I]), ...);
    } else {
      store_some(f(load_some(at[I], stride[I] ? size_t(left) : kLanes)...), out, size_t(left));
    }
  }
}

template <class R, class T>
struct RowValue {
  typename R::template Params<Vector<T>> p;
  HWY_INLINE auto operator()(Vector<T> x) const { return R::value(x, x, x, p); }
  HWY_INLINE auto operator()(Vector<T> a, Vector<T> b) const { return R::value(a, b, b, p); }
  HWY_INLINE auto operator()(Vector<T> a, Vector<T> b, Vector<T> c) const { return R::value(a, b, c, p); }
};
template <class R, int I, class T>
struct RowGradient {
  using V = Vector<T>;
  typename R::template Params<V> p;
  HWY_INLINE V operator()(V g, V x, V y) const { return R::template gradient<I>(g, x, x, x, y, p); }
  HWY_INLINE V operator()(V g, V a, V b, V y) const { return R::template gradient<I>(g, a, b, b, y, p); }
  HWY_INLINE V operator()(V g, V a, V b, V c, V y) const { return R::template gradient<I>(g, a, b, c, y, p); }
};

template <class T>
using Number = Vector<T>;
constexpr bool has_kernels(Row row, RowTypes types) {
  return types != RowTypes::kinteger && int(row) % kRowShards == LUNAGRAD_SHARD;
}

#include "runtime/ops/elementwise/cpu/row_table.h"

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(target_kernels);

template <>
const RowKernels* shard_kernels<LUNAGRAD_SHARD>() {
  return HWY_DYNAMIC_DISPATCH(target_kernels)();
}

}  // namespace lunagrad
#endif
