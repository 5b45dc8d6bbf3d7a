#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/random/cpu/random_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/random/cpu/random.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using Words = hn::ScalableTag<uint32_t>;
using Word = hn::Vec<Words>;

struct Product {
  Word high, low;
};

// The 64-bit products of all lanes with one factor: of the even lanes, and of the odd lanes.
HWY_INLINE Product multiply(Word x, Word factor) {
  const Words d;
  const hn::RepartitionToWide<Words> words64;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(words64, x))), factor);
  const auto upper = hn::Set(words64, 0xFFFFFFFF00000000u);
  return {hn::BitCast(d, hn::Or(hn::ShiftRight<32>(even), hn::And(odd, upper))),
          hn::BitCast(d, hn::Or(hn::AndNot(upper, even), hn::ShiftLeft<32>(odd)))};
}

// Computes full vectors of blocks, one per lane, and returns the number of blocks; constants as in
// random.cpp.
int64_t philox_vectors(RandomDraw draw, uint64_t first_block, int64_t blocks, uint32_t* HWY_RESTRICT words) {
  const Words d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto multiplier0 = hn::Set(d, 0xD2511F53u), multiplier1 = hn::Set(d, 0xCD9E8D57u);
  int64_t i = 0;
  for (; i + lanes <= blocks; i += lanes) {
    const uint64_t counter = first_block + uint64_t(i);
    if (uint32_t(counter) + uint64_t(lanes) > 0x100000000u)
      break;  // the upper word of the counter changes within the vector
    auto c0 = hn::Iota(d, uint32_t(counter)), c1 = hn::Set(d, uint32_t(counter >> 32));
    auto c2 = hn::Set(d, uint32_t(draw.stream)), c3 = hn::Set(d, uint32_t(draw.stream >> 32));
    uint32_t k0 = uint32_t(draw.seed), k1 = uint32_t(draw.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const Product p0 = multiply(c0, multiplier0), p1 = multiply(c2, multiplier1);
      c0 = hn::Xor(hn::Xor(p1.high, c1), hn::Set(d, k0));
      c1 = p1.low;
      c2 = hn::Xor(hn::Xor(p0.high, c3), hn::Set(d, k1));
      c3 = p0.low;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    hn::StoreInterleaved4(c0, c1, c2, c3, d, words + 4 * i);
  }
  return i;
}

#else

int64_t philox_vectors(RandomDraw, uint64_t, int64_t, uint32_t*) { return 0; }

#endif

void PhiloxWords(RandomDraw draw, uint64_t first_block, int64_t blocks, uint32_t* HWY_RESTRICT words) {
  for (int64_t i = philox_vectors(draw, first_block, blocks, words); i < blocks; ++i) {
    const PhiloxBlock block = philox(draw.seed, draw.stream, first_block + uint64_t(i));
    std::copy(block.begin(), block.end(), words + 4 * i);
  }
}

void UniformFromWords(const uint32_t* HWY_RESTRICT words, int64_t n, float* HWY_RESTRICT out) {
  for (int64_t i = 0; i < n; ++i) out[i] = float(int32_t(words[i] >> 8)) * 0x1p-24f;
}

// log u for u in (0, 1]: u = m 2^k with m in [sqrt(1/2), sqrt(2)), f = m - 1,
// log m = f - f^2 / 2 + f^3 P(f). P interpolates at Chebyshev nodes; relative error below 1e-7.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_uniform(D d, V u) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, u);
  const auto k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(k))), hn::Set(d, 1.0f));
  constexpr float kP[] = {0.06971611827611923f,  -0.11479733884334564f, 0.11685419827699661f,
                          -0.12425687164068222f, 0.14249058067798615f,  -0.1666780263185501f,
                          0.20000715553760529f,  -0.2499999701976776f,  0.3333333134651184f};
  V p = hn::Set(d, kP[0]);
  for (int i = 1; i < 9; ++i) p = hn::Add(hn::Mul(p, f), hn::Set(d, kP[i]));
  const V square = hn::Mul(f, f), exponent = hn::ConvertTo(d, k);
  // ln 2 is split in two parts; the first has so few bits that its product with k is exact.
  V small = hn::Mul(hn::Mul(p, f), square);
  small = hn::Add(small, hn::Mul(exponent, hn::Set(d, -2.12194440e-4f)));
  small = hn::Sub(small, hn::Mul(hn::Set(d, 0.5f), square));
  return hn::Add(hn::Add(f, small), hn::Mul(exponent, hn::Set(d, 0.693359375f)));
}

template <class D>
HWY_INLINE void NormalPairs(D d, const uint32_t* HWY_RESTRICT words, float* HWY_RESTRICT out) {
  using V = hn::Vec<D>;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  hn::Vec<decltype(du)> a, b;
  hn::LoadInterleaved2(du, words, a, b);
  const auto numerator = hn::Add(hn::BitCast(di, hn::ShiftRight<8>(a)), hn::Set(di, 1));
  const V u = hn::Mul(hn::ConvertTo(d, numerator), hn::Set(d, 0x1p-24f));
  const V radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0f), log_of_uniform(d, u)));

  // Splits the angle into quarter turns and a remainder of at most an eighth of a turn, both exact.
  const auto turn = hn::BitCast(di, hn::ShiftRight<8>(b));
  const auto quarter = hn::ShiftRight<22>(hn::Add(turn, hn::Set(di, 1 << 21)));
  const auto rest = hn::Sub(turn, hn::ShiftLeft<22>(quarter));
  const V x = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, 0x1.921fb6p-22f));  // 2 pi / 2^24
  const V z = hn::Mul(x, x);
  // sin x = x + x z S(z), cos x = 1 - z / 2 + z^2 C(z) for |x| <= pi / 4, interpolated at Chebyshev nodes.
  V s = hn::Set(d, -1.9587890710681677e-4f);
  s = hn::Add(hn::Mul(s, z), hn::Set(d, 8.332747966051102e-3f));
  s = hn::Add(hn::Mul(s, z), hn::Set(d, -0.166666641831398f));
  const V sine = hn::Add(x, hn::Mul(hn::Mul(x, z), s));
  V c = hn::Set(d, 2.454794230288826e-5f);
  c = hn::Add(hn::Mul(c, z), hn::Set(d, -1.388830249197781e-3f));
  c = hn::Add(hn::Mul(c, z), hn::Set(d, 0.0416666641831398f));
  const V cosine =
      hn::Add(hn::Sub(hn::Set(d, 1.0f), hn::Mul(hn::Set(d, 0.5f), z)), hn::Mul(hn::Mul(z, z), c));

  const auto one = hn::Set(di, 1), two = hn::Set(di, 2);
  const auto swap = hn::RebindMask(d, hn::Eq(hn::And(quarter, one), one));
  const V sign_of_cos = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(hn::Add(quarter, one), two)));
  const V sign_of_sin = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quarter, two)));
  const V turned_cos = hn::Xor(hn::IfThenElse(swap, sine, cosine), sign_of_cos);
  const V turned_sin = hn::Xor(hn::IfThenElse(swap, cosine, sine), sign_of_sin);
  hn::StoreInterleaved2(hn::Mul(radius, turned_cos), hn::Mul(radius, turned_sin), d, out);
}

void NormalsFromWords(const uint32_t* HWY_RESTRICT words, int64_t n, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const int64_t step = 2 * int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) NormalPairs(d, words + i, out + i);
  if (i == n) return;
  // The last partial vector uses the same code, so that a number does not depend on its position.
  HWY_ALIGN uint32_t padded[2 * hn::MaxLanes(hn::ScalableTag<float>())] = {};
  HWY_ALIGN float results[2 * hn::MaxLanes(hn::ScalableTag<float>())];
  std::copy(words + i, words + n, padded);
  NormalPairs(d, padded, results);
  std::copy_n(results, n - i, out + i);
}

template <class T>
void drop(const uint32_t* HWY_RESTRICT words, uint32_t threshold, const T* HWY_RESTRICT x, T scale, int64_t n,
          T* HWY_RESTRICT out) {
  for (int64_t i = 0; i < n; ++i) {
    const T kept = x[i] * scale;
    out[i] = words[i] < threshold ? T(0) : kept;
  }
}
void DropF32(const uint32_t* words, uint32_t threshold, const float* x, float scale, int64_t n, float* out) {
  drop(words, threshold, x, scale, n, out);
}
void DropF64(const uint32_t* words, uint32_t threshold, const double* x, double scale, int64_t n,
             double* out) {
  drop(words, threshold, x, scale, n, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(PhiloxWords);
HWY_EXPORT(UniformFromWords);
HWY_EXPORT(NormalsFromWords);
HWY_EXPORT(DropF32);
HWY_EXPORT(DropF64);

void philox_words(RandomDraw draw, uint64_t first_block, int64_t blocks, uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(PhiloxWords)(draw, first_block, blocks, words);
}
void uniform_from_words(const uint32_t* words, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(UniformFromWords)(words, n, out);
}
void normals_from_words(const uint32_t* words, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(NormalsFromWords)(words, n, out);
}
void drop_by_words(const uint32_t* words, uint32_t threshold, const float* x, float scale, int64_t n,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(DropF32)(words, threshold, x, scale, n, out);
}
void drop_by_words(const uint32_t* words, uint32_t threshold, const double* x, double scale, int64_t n,
                   double* out) {
  HWY_DYNAMIC_DISPATCH(DropF64)(words, threshold, x, scale, n, out);
}

}  // namespace lunagrad
#endif  // HWY_ONCE
