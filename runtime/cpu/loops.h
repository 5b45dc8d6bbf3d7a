// Loops over contiguous elements in SIMD vectors. Included once per SIMD target, after hwy/highway.h. Pure,
// any thread.
#if defined(LUNAGRAD_CPU_LOOPS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LUNAGRAD_CPU_LOOPS_H
#undef LUNAGRAD_CPU_LOOPS_H
#else
#define LUNAGRAD_CPU_LOOPS_H
#endif

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {

// Calls f(tag, i) over [0, count): full vectors first, then single elements.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t count, F&& f) {
  const hwy::HWY_NAMESPACE::ScalableTag<T> d;
  const hwy::HWY_NAMESPACE::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hwy::HWY_NAMESPACE::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) f(d, i);
  for (; i < count; ++i) f(one, i);
}

}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();
#endif
