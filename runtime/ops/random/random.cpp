// Random tensors: uniform, normal, integers, permutations, Bernoulli. Element i of a draw takes word i % 4 of
// block i / 4 (random.h); elements that need 64 bits take words 2i and 2i + 1.
#include "runtime/ops/random/cpu/random.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

#include "runtime/core/default_dtype.h"
#include "runtime/core/memory_limit.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/pieces.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/shape/creation.h"

namespace lunagrad {
namespace {

RandomDraw draw_of(const Call& call) { return {call.args[0].u, call.args[1].u}; }

constexpr int64_t kRandomPiece = 1024;  // words generated at a time; a multiple of 4

// Calls f(first, n, words) for pieces that cover [0, count): element first + i has words[i * per_element …].
template <class F>
void for_words(RandomDraw draw, int64_t count, int per_element, F&& f) {
  const int64_t piece = kRandomPiece / per_element;
  parallel_for((count + piece - 1) / piece, 32, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[kRandomPiece];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * piece, n = std::min(piece, count - first);
      philox_words(draw, uint64_t(i * (kRandomPiece / 4)), (n * per_element + 3) / 4, words);
      f(first, n, static_cast<const uint32_t*>(words));
    }
  });
}

void need_floating(const Call& call, DType dtype) {
  if (!is_floating(dtype)) fail(call.op->name, ": a floating-point dtype is needed (got ", dtype, ")");
}

void floating_shape(Call& call) {
  const DType dtype = dtype_or(call.params[1], default_dtype());
  if (!is_complex(dtype)) need_floating(call, dtype);
  call.emit(call.list(0), dtype);
}

// --- rand, randn ---

// The result as real numbers: the parts of a complex tensor are drawn one after the other.
Tensor parts_in_a_row(const Tensor& out) {
  if (!is_complex(out.dtype())) return out;
  return Tensor(out.storage_ref(), Layout::contiguous({2 * out.numel()}), 2 * out.offset(),
                part_type(out.dtype()));
}

// Types with fewer bits use only as many upper bits as they can represent, so that rounding never gives 1.
void rand_cpu(const Call& call) {
  const Tensor out = parts_in_a_row(call.output());
  const RandomDraw draw = draw_of(call);
  switch (out.dtype()) {
    case DType::f64:
      return for_words(draw, out.numel(), 2, [&](int64_t first, int64_t n, const uint32_t* words) {
        double* to = out.data<double>() + first;
        for (int64_t i = 0; i < n; ++i) to[i] = uniform_f64(words[2 * i], words[2 * i + 1]);
      });
    case DType::f16:
      return for_words(draw, out.numel(), 1, [&](int64_t first, int64_t n, const uint32_t* words) {
        Half* to = out.data<Half>() + first;
        for (int64_t i = 0; i < n; ++i) to[i] = Half(float(words[i] >> 21) * 0x1p-11f);
      });
    case DType::bf16:
      return for_words(draw, out.numel(), 1, [&](int64_t first, int64_t n, const uint32_t* words) {
        BFloat16* to = out.data<BFloat16>() + first;
        for (int64_t i = 0; i < n; ++i) to[i] = BFloat16(float(words[i] >> 24) * 0x1p-8f);
      });
    default:
      return for_words(draw, out.numel(), 1, [&](int64_t first, int64_t n, const uint32_t* words) {
        uniform_from_words(words, n, out.data<float>() + first);
      });
  }
}
const Op kRand{.name = "rand",
               .doc = "Uniform random numbers in [0, 1).",
               .inputs = {},
               .params = {kSize, kDType},
               .shape = floating_shape,
               .cpu = rand_cpu,
               .random = true,
               .complex = true,
               .family = OpFamily::other,
               .flops = kMovesData};

// The transform of ops/random/cpu/random.h in f64, with the standard library's functions; each number takes
// two words.
void normals_f64(const uint32_t* words, int64_t n, double* out) {
  for (int64_t i = 0; i < n; i += 2) {
    const double u = uniform_f64(words[2 * i], words[2 * i + 1]) + 0x1p-53;
    const double angle = 2 * std::numbers::pi * uniform_f64(words[2 * i + 2], words[2 * i + 3]);
    const double radius = std::sqrt(-2 * std::log(u));
    out[i] = radius * std::cos(angle);
    if (i + 1 < n) out[i + 1] = radius * std::sin(angle);
  }
}
template <class T>
void scale(const Tensor& x, double factor) {
  T* const values = x.data<T>();
  parallel_for(x.numel(), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] *= T(factor);
  });
}
void real_normals(const Tensor& out, RandomDraw draw) {
  if (out.dtype() == DType::f64)
    return for_words(draw, out.numel() + out.numel() % 2, 2,
                     [&](int64_t first, int64_t n, const uint32_t* words) {
                       normals_f64(words, std::min(n, out.numel() - first), out.data<double>() + first);
                     });
  // If the number of elements is odd, the last number of the last pair is not used.
  visit_dtype(out.dtype(), [&]<class T>() {
    for_words(draw, out.numel() + out.numel() % 2, 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      float normals[kRandomPiece];
      normals_from_words(words, n, normals);
      n = std::min(n, out.numel() - first);
      for (int64_t i = 0; i < n; ++i) out.data<T>()[first + i] = convert<T>(normals[i]);
    });
  });
}
// Both parts of a complex number have variance 1/2, so that the number has variance 1.
void randn_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor parts = parts_in_a_row(out);
  real_normals(parts, draw_of(call));
  if (out.dtype() == DType::c64) scale<float>(parts, std::numbers::sqrt2 / 2);
  if (out.dtype() == DType::c128) scale<double>(parts, std::numbers::sqrt2 / 2);
}
const Op kRandn{.name = "randn",
                .doc = "Normal random numbers with mean 0 and standard deviation 1.",
                .inputs = {},
                .params = {kSize, kDType},
                .shape = floating_shape,
                .cpu = randn_cpu,
                .random = true,
                .complex = true,
                .family = OpFamily::other,
                .flops = {for_results<4>,
                          "4 for each element of the result: half of a pair with a logarithm, a root, a "
                          "sine, a cosine and 4 products"}};

// --- randint, randperm ---

// The upper half of bits * range: below range, each value as often as 2^32 or 2^64 allows
// (Lemire, "Fast random integer generation in an interval", 2019, without the rejection).
uint64_t below(uint64_t range, uint32_t high, uint32_t low) {
  using Uint128 = unsigned __int128;
  return uint64_t(Uint128((uint64_t(high) << 32) | low) * range >> 64);
}

void randint_shape(Call& call) {
  const int64_t low = call.integer(0), high = call.integer(1);
  if (low >= high) fail("randint: low must be below high (got ", low, " and ", high, ")");
  call.emit(call.list(2), dtype_or(call.params[3], DType::i64));
}
void randint_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int64_t low = call.integer(0);
  const uint64_t range = uint64_t(call.integer(1)) - uint64_t(low);
  const int per_element = range <= 0x100000000u ? 1 : 2;
  visit_dtype(out.dtype(), [&]<class T>() {
    T* to = out.data<T>();
    for_words(draw_of(call), out.numel(), per_element, [&](int64_t first, int64_t n, const uint32_t* words) {
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t offset =
            per_element == 1 ? words[i] * range >> 32 : below(range, words[2 * i], words[2 * i + 1]);
        to[first + i] = convert<T>(int64_t(uint64_t(low) + offset));
      }
    });
  });
}
const Op kRandint{
    .name = "randint",
    .doc = "Random integers from low up to but not including high.",
    .inputs = {},
    .params = {{"low", ParamKind::integer, {}}, {"high", ParamKind::integer, {}}, kSize, kDType},
    .shape = randint_shape,
    .cpu = randint_cpu,
    .random = true,
    .family = OpFamily::other,
    .flops = kMovesData};

void randperm_shape(Call& call) {
  if (call.integer(0) < 0) fail("randperm: n must not be negative (got ", call.integer(0), ")");
  call.emit({call.integer(0)}, dtype_or(call.params[1], DType::i64));
}
// Fisher-Yates shuffle as in Knuth, TAOCP vol. 2, 3.4.2, algorithm P: element i is swapped with an element at
// i or after it. The positions of a batch are drawn and prefetched first, since most lie outside the cache.
template <class Place>
void shuffle(Place* order, int64_t n, RandomDraw draw) {
  constexpr int64_t kBatch = 32;  // even: a block of random bits serves two elements
  in_pieces(n, [&](int64_t begin, int64_t end) { std::iota(order + begin, order + end, Place(begin)); });
  in_pieces(n, [&](int64_t begin, int64_t end) {
    int64_t others[kBatch];
    for (int64_t first = begin; first < end; first += kBatch) {
      const int64_t count = std::min(kBatch, end - first);
      PhiloxBlock block{};
      for (int64_t k = 0; k < count; ++k) {
        if (k % 2 == 0) block = philox(draw.seed, draw.stream, uint64_t((first + k) / 2));
        const size_t word = size_t(k % 2 * 2);
        others[k] = first + k + int64_t(below(uint64_t(n - first - k), block[word], block[word + 1]));
        __builtin_prefetch(order + others[k], 1);
      }
      for (int64_t k = 0; k < count; ++k) std::swap(order[first + k], order[others[k]]);
    }
  });
}
void randperm_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int64_t n = out.numel();
  const auto run = [&]<class Place>() {
    const std::unique_ptr<Place[]> order(new Place[size_t(n)]);
    shuffle(order.get(), n, draw_of(call));
    visit_dtype(out.dtype(), [&]<class T>() {
      parallel_for(n, 1 << 14, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out.data<T>()[i] = convert<T>(int64_t(order[size_t(i)]));
      });
    });
  };
  n <= INT32_MAX ? run.template operator()<int32_t>() : run.template operator()<int64_t>();
}
const Op kRandperm{.name = "randperm",
                   .doc = "The integers 0 … n - 1 in random order.",
                   .inputs = {},
                   .params = {{"n", ParamKind::integer, {}}, kDType},
                   .shape = randperm_shape,
                   .cpu = randperm_cpu,
                   .random = true,
                   .family = OpFamily::other,
                   .flops = kMovesData};

// --- bernoulli ---

void bernoulli_shape(Call& call) {
  need_floating(call, call.input(0).dtype());
  call.emit(call.input(0).shape(), call.input(0).dtype());
}
void bernoulli_cpu(const Call& call) {
  const Tensor p = in_order(call.input(0)), &out = call.output();
  visit_dtype(out.dtype(), [&]<class T>() {
    const T* const chances = p.data<T>();
    T* const to = out.data<T>();
    std::atomic<bool> fine = true;
    const auto chance = [&](int64_t i) { return convert<double>(chances[i]); };
    const auto is_chance = [&](int64_t i) { return bool((chance(i) >= 0) & (chance(i) <= 1)); };
    const std::array faces = {convert<T>(0.0f), convert<T>(1.0f)};  // a table: a branch would be mispredicted
    for_words(draw_of(call), out.numel(), 1, [&](int64_t first, int64_t n, const uint32_t* words) {
      bool all = true;
      for (int64_t i = 0; i < n; ++i) {
        all &= is_chance(first + i);
        to[first + i] = faces[double(words[i]) * 0x1p-32 < chance(first + i)];
      }
      if (!all) fine = false;
    });
    for (int64_t i = 0; !fine && i < out.numel(); ++i)
      if (!is_chance(i)) fail("bernoulli: a probability must lie in [0, 1] (got ", chance(i), ")");
  });
}
// A Bernoulli draw has no gradient; the gradient is 0 rather than an error, as in PyTorch.
void bernoulli_vjp(Backward& b) { b.set(0, zeros(b.shape(0), b.dtype(0), b.device())); }
const Op kBernoulli{.name = "bernoulli",
                    .doc = "1 with the probability that input gives, else 0.",
                    .inputs = {{"input"}},
                    .shape = bernoulli_shape,
                    .cpu = bernoulli_cpu,
                    .vjp = bernoulli_vjp,
                    .random = true,
                    .judges_values = true,
                    .family = OpFamily::other,
                    .flops = kOnePerResult};

// --- multinomial ---

void multinomial_shape(Call& call) {
  const Tensor& weights = call.input(0);
  const int64_t samples = call.integer(0);
  need_floating(call, weights.dtype());
  if (weights.ndim() != 1 && weights.ndim() != 2)
    fail("multinomial: weights of 1 or 2 dims expected (got shape ", weights.shape(), ")");
  if (samples < 1) fail("multinomial: num_samples must be at least 1 (got ", samples, ")");
  if (!call.flag(1) && samples > weights.size(-1))
    fail("multinomial: ", samples, " samples without replacement from ", weights.size(-1), " categories");
  Shape shape = weights.shape();
  shape[shape.size() - 1] = samples;
  call.emit(shape, DType::i64);
}

// Error for a row that is not a distribution.
void check_weights(const double* row, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!(row[i] >= 0 && std::isfinite(row[i])))
      fail("multinomial: a weight must be finite and not negative (got ", row[i], ")");
    total += row[i];
  }
  if (!(total > 0 && std::isfinite(total))) fail("multinomial: the weights of a row add up to ", total);
}

// The uniform number of an element of a draw.
double uniform_of(RandomDraw draw, int64_t element) {
  const PhiloxBlock block = philox(draw.seed, draw.stream, uint64_t(element / 2));
  return uniform_f64(block[size_t(element % 2 * 2)], block[size_t(element % 2 * 2 + 1)]);
}

// With replacement: each sample is the position of a uniform number among the running sums. `first` is the
// element of the draw with which the row begins.
void draw_with_replacement(RandomDraw draw, int64_t first, const std::vector<double>& row, int64_t samples,
                           int64_t* to, std::vector<double>& sums) {
  double total = 0, least = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    sums[i] = total += row[i];
    least = std::min(least, row[i]);
  }
  if (!(least >= 0 && total > 0 && std::isfinite(total))) check_weights(row.data(), int64_t(row.size()));
  for (int64_t s = 0; s < samples; ++s) {
    if (s % 4096 == 0) context().check_stop();
    const auto found = std::upper_bound(sums.begin(), sums.end(), uniform_of(draw, first + s) * total);
    // Rounding may lead past the end; then the last category that has a weight is taken.
    to[s] = found != sums.end() ? found - sums.begin()
                                : std::lower_bound(sums.begin(), sums.end(), total) - sums.begin();
  }
}

// Without replacement: the categories with the smallest -log(u) / w, in ascending order. They are distributed
// like categories drawn one after the other (Efraimidis and Spirakis, "Weighted random sampling with a
// reservoir", 2006).
void draw_without_replacement(RandomDraw draw, int64_t first, const std::vector<double>& row, int64_t samples,
                              int64_t* to, std::vector<double>& keys) {
  const int64_t n = int64_t(row.size());
  check_weights(row.data(), n);
  const int64_t possible = n - std::count(row.begin(), row.end(), 0.0);
  if (samples > possible)
    fail("multinomial: ", samples, " samples without replacement from ", possible,
         " categories with a weight");
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      keys[size_t(i)] =
          row[size_t(i)] > 0 ? -std::log(uniform_of(draw, first + i) + 0x1p-54) / row[size_t(i)] : INFINITY;
  });
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), int64_t(0));
  std::partial_sort(order.begin(), order.begin() + samples, order.end(), stoppable([&](int64_t a, int64_t b) {
                      const double x = keys[size_t(a)], y = keys[size_t(b)];
                      return x != y ? x < y : a < b;
                    }));
  std::copy_n(order.begin(), samples, to);
}

void multinomial_cpu(const Call& call) {
  constexpr int64_t kGrain = 1 << 13;  // weights
  const Tensor &weights = call.input(0), &out = call.output();
  const int64_t n = weights.size(-1), samples = call.integer(0), rows = out.numel() / samples;
  check_room(size_t(n) * size_t(std::min<int64_t>(rows, thread_count())),
             2 * sizeof(double) + sizeof(int64_t));
  const Tensor given = in_order(weights);
  const RandomDraw draw = draw_of(call);
  visit_dtype(given.dtype(), [&]<class T>() {
    parallel_for(rows, iterations_in(kGrain, n), [&](int64_t begin, int64_t end) {
      std::vector<double> row(static_cast<size_t>(n)), scratch(static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        const T* const from = given.data<T>() + r * n;
        for (int64_t i = 0; i < n; ++i) row[size_t(i)] = convert<double>(from[i]);
        int64_t* const to = out.data<int64_t>() + r * samples;
        call.flag(1) ? draw_with_replacement(draw, r * samples, row, samples, to, scratch)
                     : draw_without_replacement(draw, r * n, row, samples, to, scratch);
      }
    });
  });
}
const Op kMultinomial{
    .name = "multinomial",
    .doc =
        "num_samples indices (from 0) drawn for each row of input, with the probabilities that the row "
        "weighs.",
    .inputs = {{"input"}},
    .params = {{"num_samples", ParamKind::integer, {}}, {"replacement", ParamKind::boolean, false}},
    .shape = multinomial_shape,
    .cpu = multinomial_cpu,
    .random = true,
    .judges_values = true,
    .family = OpFamily::other,
    .flops = {for_input<2>, "2 for each weight: a logarithm and a quotient"}};

Operands rand_like_compose(const Call& call) { return {like(kRand, call, 0)}; }
Operands randn_like_compose(const Call& call) { return {like(kRandn, call, 0)}; }
const Op kRandLike{.name = "rand_like",
                   .doc = "Uniform random numbers in [0, 1) with the shape, dtype and device of input.",
                   .inputs = {{"input"}},
                   .params = {kDType},
                   .compose = rand_like_compose,
                   .family = OpFamily::other,
                   .creates = true};
const Op kRandnLike{.name = "randn_like",
                    .doc = "Normal random numbers with the shape, dtype and device of input.",
                    .inputs = {{"input"}},
                    .params = {kDType},
                    .compose = randn_like_compose,
                    .family = OpFamily::other,
                    .creates = true};

}  // namespace

Tensor rand(const Shape& shape, DType dtype, Device& device) {
  return create(kRand, {Value(shape), dtype}, device);
}
Tensor randn(const Shape& shape, DType dtype, Device& device) {
  return create(kRandn, {Value(shape), dtype}, device);
}
Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype, Device& device) {
  return create(kRandint, {low, high, Value(shape), dtype}, device);
}
Tensor randperm(int64_t n, Device& device) { return create(kRandperm, {n, DType::i64}, device); }
Tensor bernoulli(const Tensor& p) { return apply1(kBernoulli, {p}); }

Tensor multinomial(const Tensor& weights, int64_t num_samples, bool replacement) {
  return apply1(kMultinomial, {weights}, {num_samples, replacement});
}

std::span<const Op* const> random_ops() {
  static const Op* const ops[] = {&kRand,      &kRandn,       &kRandint,  &kRandperm,
                                  &kBernoulli, &kMultinomial, &kRandLike, &kRandnLike};
  return ops;
}

}  // namespace lunagrad
