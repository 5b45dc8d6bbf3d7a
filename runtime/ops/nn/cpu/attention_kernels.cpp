// The tiles of attention.h. The rows of a tile are queries, the columns keys. Right-hand operands of products
// are copied with rows padded to a multiple of kPad elements; the other operands are copied in the form that
// the products need: K and V of a block of keys also transposed, Q scaled.
#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/attention_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/math.h"
#include "runtime/ops/nn/cpu/attention.h"
#include "runtime/ops/products/cpu/tile_product.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kQueries = kAttentionQueries, kKeys = kAttentionKeys;
constexpr int64_t kPad = 16;  // at least the lanes of a vector and kTileRows, and a divisor of kKeys
constexpr int64_t kCells = kQueries * kKeys;

int64_t padded(int64_t n, int64_t unit = kPad) { return (n + unit - 1) / unit * unit; }

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, F&& f) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < n; i += int64_t(hn::Lanes(d))) f(d, i);
}

// to [padded_rows, step] = scale times from [rows, n], padded with zeros.
template <class T>
void copy_rows(RowsOf<const T> from, int64_t first, int64_t rows, int64_t n, T scale, int64_t padded_rows,
               T* to, int64_t step) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t row = 0; row < rows; ++row) {
    const T* const in = from[first + row];
    T* const out = to + row * step;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, in + i), hn::Set(d, scale)), d, out + i);
    for (; i < n; ++i) out[i] = in[i] * scale;
    std::fill(out + n, out + step, T(0));
  }
  std::fill(to + rows * step, to + padded_rows * step, T(0));
}

// A tile of scores.
struct Tile {
  const AttentionPlan& plan;
  int64_t first_query, queries, first_key, keys;

  Tile(const AttentionPlan& p, int64_t query, int64_t key)
      : plan(p),
        first_query(query),
        queries(std::min(kQueries, p.queries - query)),
        first_key(key),
        keys(std::min(kKeys, p.keys - key)) {}
  int64_t rows() const { return padded(queries, kTileRows); }
  // The number of keys of the tile that a row attends to.
  int64_t seen(int64_t row) const {
    return plan.causal ? std::clamp<int64_t>(first_query + row + 1 - first_key, 0, keys) : keys;
  }
  // The largest seen() of the kTileRows rows from `row`, which are computed together; their columns up to the
  // next multiple of kPad are written.
  int64_t seen_by_rows(int64_t row) const { return seen(std::min(row + kTileRows, queries) - 1); }
  int64_t width(int64_t row) const { return padded(seen_by_rows(row / kTileRows * kTileRows)); }
};

// The products of rows of a [rows, n] with the columns of b [n, kKeys] that the rows attend to.
template <class T>
void multiply_scores(const Tile& tile, int64_t n, const T* a, int64_t a_step, const T* b, T* scores) {
  for (int64_t row = 0; row < tile.rows(); row += kTileRows)
    multiply_tile<false>(tile.width(row), n, a + row * a_step, a_step, b, kKeys, false, scores + row * kKeys,
                         kKeys);
}

// c [rows, step] += scores times b [kKeys, step].
template <class T>
void add_from_keys(const Tile& tile, const T* scores, const T* b, T* c, int64_t step) {
  for (int64_t row = 0; row < tile.rows(); row += kTileRows)
    multiply_tile<false>(step, tile.seen_by_rows(row), scores + row * kKeys, kKeys, b, step, true,
                         c + row * step, step);
}

// c [keys, step] += scores, transposed, times b [rows, step].
template <class T>
void add_from_queries(const Tile& tile, const T* scores, const T* b, T* c, int64_t step) {
  int64_t row = 0;
  for (int64_t key = 0; key < tile.keys; key += kTileRows) {
    while (row < tile.rows() && tile.width(row) <= key) row += kTileRows;
    multiply_tile<true>(step, tile.rows() - row, scores + row * kKeys + key, kKeys, b + row * step, step,
                        true, c + key * step, step);
  }
}

// The bias of a row's scores: the mask, and -inf for masked keys. Null when only the keys after the last
// attended one are masked. `buffer` has room for kKeys elements.
template <class T>
const T* bias_of(const Tile& tile, const AttentionHead<T>& head, int64_t row, T* buffer) {
  const bool masked = head.allowed.data || head.bias.data;
  if (!masked && tile.plan.softcap == 0) return nullptr;
  const int64_t seen = tile.seen(row), query = tile.first_query + row;
  std::fill(buffer, buffer + seen, T(0));
  std::fill(buffer + seen, buffer + tile.width(row), -kInfinity<T>);
  if (head.bias.data) std::copy_n(head.bias[query] + tile.first_key, seen, buffer);
  if (head.allowed.data) {
    const uint8_t* const allowed = head.allowed[query] + tile.first_key;
    for (int64_t i = 0; i < seen; ++i) buffer[i] = allowed[i] ? buffer[i] : -kInfinity<T>;
  }
  return buffer;
}

template <class T>
void cap_scores(double cap, int64_t n, T* scores) {
  for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto x = hn::Mul(hn::Load(d, scores + i), hn::Set(d, T(1 / cap)));
    hn::Store(hn::Mul(math::tanh(d, x), hn::Set(d, T(cap))), d, scores + i);
  });
}

// The dropout factors of a row's weights: 0, or 1 / (1 - p).
template <class T>
void drop_factors(const Tile& tile, const AttentionHead<T>& head, int64_t row, int64_t n, T* factors) {
  const AttentionPlan& p = tile.plan;
  HWY_ALIGN uint32_t words[kKeys];
  const uint64_t number = uint64_t(head.number * p.queries + tile.first_query + row);
  const uint64_t first = number * uint64_t(p.row_words()) + uint64_t(tile.first_key);
  philox_words(p.draw, first / 4, kKeys / 4, words);  // for all keys: a full vector of blocks costs no more
  const uint32_t threshold = uint32_t(std::min(std::round(p.dropout * 0x1p32), 0x1p32 - 1));
  const T kept = p.dropout < 1 ? T(1 / (1 - p.dropout)) : T(0);
  for (int64_t i = 0; i < n; ++i) factors[i] = words[i] < threshold ? T(0) : kept;
}

// --- forward ---

template <class T>
struct ForwardMemory {
  T *keys, *values, *q, *scores, *out;
  int64_t q_step, v_step;
  ForwardMemory(const AttentionPlan& p, T* memory)
      : q_step(padded(p.features)), v_step(padded(p.value_features)) {
    const int64_t n = padded(p.usable_keys(), kKeys);
    keys = memory;
    values = keys + n * p.features;
    q = values + n * v_step;
    scores = q + kQueries * q_step;
    out = scores + kCells;
  }
  int64_t size(const T* memory) const { return out + kQueries * v_step - memory; }
};

// The running maximum m and sum l of a tile's rows.
template <class T>
struct Running {
  HWY_ALIGN T largest[kQueries];
  HWY_ALIGN T shift[kQueries];  // the maximum, or 0 when all scores are -inf
  HWY_ALIGN T sum[kQueries];
  HWY_ALIGN T decay[kQueries];  // factor that rescales the sums so far
  Running() {
    std::fill_n(largest, kQueries, -kInfinity<T>);
    std::fill_n(sum, kQueries, T(0));
  }
};

// Completes the scores of a row (bias, soft cap) and updates its maximum.
template <class T>
void finish_scores(const Tile& tile, const AttentionHead<T>& head, int64_t row, T* scores, T& largest) {
  const int64_t n = tile.width(row);
  HWY_ALIGN T buffer[kKeys];
  if (tile.plan.softcap > 0) cap_scores(tile.plan.softcap, n, scores);
  const T* const bias = bias_of(tile, head, row, buffer);
  if (!bias) std::fill(scores + tile.seen(row), scores + n, -kInfinity<T>);
  const hn::ScalableTag<T> d;
  auto most = hn::Set(d, largest);
  for_vectors<T>(n, [&](auto tag, int64_t i) HWY_ATTR {
    auto x = hn::Load(tag, scores + i);
    if (bias) {
      x = hn::Add(x, hn::Load(tag, bias + i));
      hn::Store(x, tag, scores + i);
    }
    most = hn::Max(x, most);
  });
  largest = hn::GetLane(hn::MaxOfLanes(d, most));
}

template <class T>
void move_shift(Running<T>& running, const T* before) {
  for_vectors<T>(kQueries, [&](auto d, int64_t i) HWY_ATTR {
    const auto largest = hn::Load(d, running.largest + i);
    const auto none = hn::Eq(largest, hn::Set(d, -kInfinity<T>));
    const auto shift = hn::IfThenZeroElse(none, largest);
    hn::Store(shift, d, running.shift + i);
    hn::Store(math::exp(d, hn::Sub(hn::Load(d, before + i), shift)), d, running.decay + i);
  });
}

// scores = exp(scores - shift); returns their sum.
template <class T>
T exponentials(int64_t n, T shift, T* scores) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  for_vectors<T>(n, [&](auto tag, int64_t i) HWY_ATTR {
    const auto e = math::exp(tag, hn::Sub(hn::Load(tag, scores + i), hn::Set(tag, shift)));
    hn::Store(e, tag, scores + i);
    sum = hn::Add(sum, e);
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class T>
void scale_row(int64_t n, T factor, T* x) {
  for_vectors<T>(n, [&](auto d, int64_t i)
                        HWY_ATTR { hn::Store(hn::Mul(hn::Load(d, x + i), hn::Set(d, factor)), d, x + i); });
}

// One tile: adds the contribution of its keys to the result, from the products of queries and keys.
template <class T>
void forward_tile(const Tile& tile, const AttentionHead<T>& head, const ForwardMemory<T>& m,
                  Running<T>& running) {
  const AttentionPlan& p = tile.plan;
  multiply_scores(tile, p.features, m.q, m.q_step, m.keys + tile.first_key * p.features, m.scores);
  HWY_ALIGN T before[kQueries];
  std::copy_n(running.largest, kQueries, before);
  for (int64_t row = 0; row < tile.queries; ++row)
    if (tile.width(row) > 0) finish_scores(tile, head, row, m.scores + row * kKeys, running.largest[row]);
  move_shift(running, before);
  for (int64_t row = 0; row < tile.queries; ++row) {
    T* const weights = m.scores + row * kKeys;
    const int64_t n = tile.width(row);
    if (n == 0) continue;
    const T decay = running.decay[row];
    running.sum[row] = running.sum[row] * decay + exponentials(n, running.shift[row], weights);
    if (decay != 1) scale_row(m.v_step, decay, m.out + row * m.v_step);
    if (p.dropout == 0) continue;
    HWY_ALIGN T factors[kKeys];
    drop_factors(tile, head, row, n, factors);
    for (int64_t i = 0; i < n; ++i) weights[i] *= factors[i];
  }
  add_from_keys(tile, m.scores, m.values + tile.first_key * m.v_step, m.out, m.v_step);
}

template <class T>
void rows(const AttentionPlan& p, const AttentionHead<T>& head, bool packed, int64_t first, RowsOf<T> out,
          T* lse, T* memory) {
  const ForwardMemory<T> m(p, memory);
  const int64_t keys = p.usable_keys();
  for (int64_t key = 0; !packed && key < keys; key += kKeys) {
    const int64_t n = std::min(kKeys, keys - key);
    transpose_tile(n, p.features, head.k[key], head.k.step, m.keys + key * p.features, kKeys);
    copy_rows(head.v, key, n, p.value_features, T(1), kKeys, m.values + key * m.v_step, m.v_step);
  }
  const int64_t queries = std::min(kQueries, p.queries - first);
  copy_rows(head.q, first, queries, p.features, T(p.scale), kQueries, m.q, m.q_step);
  std::fill_n(m.out, kQueries * m.v_step, T(0));
  Running<T> running;
  for (int64_t key = 0; key < keys; key += kKeys) {
    const Tile tile(p, first, key);
    if (tile.seen(tile.queries - 1) == 0) break;
    forward_tile(tile, head, m, running);
  }
  HWY_ALIGN T logs[kQueries];
  for_vectors<T>(kQueries, [&](auto d, int64_t i) HWY_ATTR {
    const auto sum = hn::Load(d, running.sum + i);
    const auto log = hn::Add(hn::Load(d, running.largest + i), math::log(d, sum));
    hn::Store(hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), hn::Inf(d), log), d, logs + i);
  });
  std::copy_n(logs, queries, lse + first);
  for (int64_t row = 0; row < queries; ++row) {
    T* const from = m.out + row * m.v_step;
    const T sum = running.sum[row];
    scale_row(m.v_step, sum == 0 ? T(0) : 1 / sum, from);
    std::copy_n(from, p.value_features, out[first + row]);
  }
}

// --- backward, with P the weights, D their dropout factors and G the gradient of the result O = (P D) V:
//   dV = (P D)^T G,  dS = P (D (G V^T) - delta) with delta = G O - d_lse,  dQ = dS K scale,
//   dK = dS^T Q scale
// With a soft cap c, dQ and dK use dS (1 - (S / c)^2). ---

template <class T>
struct BackwardMemory {
  T *q, *g, *dq, *lse, *delta, *k, *k_t, *v_t, *dk, *dv, *scores, *d_scores;
  int64_t q_step, v_step, size;
  BackwardMemory(const AttentionPlan& p, T* memory)
      : q_step(padded(p.features)), v_step(padded(p.value_features)) {
    T* next = memory;
    const auto take = [&](int64_t n) {
      T* const here = next;
      next += padded(n);
      return here;
    };
    const int64_t n = padded(p.queries, kQueries);
    q = take(n * q_step);
    g = take(n * v_step);
    dq = take(n * q_step);
    lse = take(n);
    delta = take(n);
    k = take(kKeys * q_step);
    k_t = take(kKeys * p.features);
    v_t = take(kKeys * p.value_features);
    dk = take(kKeys * q_step);
    dv = take(kKeys * v_step);
    scores = take(kCells);
    d_scores = take(kCells);
    size = next - memory;
  }
};

template <class T>
void grad_begin(const AttentionPlan& p, const AttentionHead<T>& head, const AttentionResult<T>& result,
                T* memory) {
  const BackwardMemory<T> m(p, memory);
  const int64_t n = padded(p.queries, kQueries);
  copy_rows(head.q, 0, p.queries, p.features, T(p.scale), n, m.q, m.q_step);
  copy_rows(result.d_out, 0, p.queries, p.value_features, T(1), n, m.g, m.v_step);
  std::fill_n(m.dq, n * m.q_step, T(0));
  std::copy_n(result.lse, p.queries, m.lse);
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t row = 0; row < p.queries; ++row) {
    const T *const o = result.out[row], *const g = m.g + row * m.v_step;
    auto sum = hn::Zero(d);
    int64_t i = 0;
    for (; i + lanes <= p.value_features; i += lanes)
      sum = hn::MulAdd(hn::LoadU(d, o + i), hn::LoadU(d, g + i), sum);
    T delta = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; i < p.value_features; ++i) delta += o[i] * g[i];
    m.delta[row] = result.d_lse ? delta - result.d_lse[row] : delta;
  }
}

// Converts a row's scores to weights (with dropout), and its products of gradient and values to dS.
template <class T>
void grad_row(const Tile& tile, const AttentionHead<T>& head, const BackwardMemory<T>& m, int64_t row,
              T* d_bias) {
  const AttentionPlan& p = tile.plan;
  const int64_t n = tile.width(row), query = tile.first_query + row;
  T *const scores = m.scores + row * kKeys, *const d_scores = m.d_scores + row * kKeys;
  HWY_ALIGN T buffer[kKeys];
  HWY_ALIGN T factors[kKeys];
  if (p.softcap > 0) cap_scores(p.softcap, n, scores);
  const T* const bias = bias_of(tile, head, row, buffer);
  if (!bias) std::fill(scores + tile.seen(row), scores + n, -kInfinity<T>);
  const bool drops = p.dropout > 0, capped = p.softcap > 0;
  if (drops) drop_factors(tile, head, row, n, factors);
  const T lse = m.lse[query], delta = m.delta[query], cap = T(capped ? 1 / p.softcap : 0);
  for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto score = hn::Load(d, scores + i), shift = hn::Set(d, lse);
    auto weight = math::exp(d, hn::Sub(bias ? hn::Add(score, hn::Load(d, bias + i)) : score, shift));
    auto gradient = hn::Load(d, d_scores + i);
    if (drops) gradient = hn::Mul(gradient, hn::Load(d, factors + i));
    gradient = hn::Mul(weight, hn::Sub(gradient, hn::Set(d, delta)));
    if (drops) weight = hn::Mul(weight, hn::Load(d, factors + i));
    hn::Store(weight, d, scores + i);
    if (d_bias) hn::Store(gradient, d, buffer + i);
    if (capped) {
      const auto t = hn::Mul(score, hn::Set(d, cap));
      gradient = hn::Mul(gradient, hn::NegMulAdd(t, t, hn::Set(d, T(1))));
    }
    hn::Store(gradient, d, d_scores + i);
  });
  if (d_bias)
    for (int64_t i = 0; i < tile.seen(row); ++i) d_bias[i] += buffer[i];
}

template <class T>
void grad_keys(const AttentionPlan& p, const AttentionHead<T>& head, int64_t first_key,
               const AttentionGrads<T>& grads, T* memory) {
  const BackwardMemory<T> m(p, memory);
  const int64_t keys = std::min(kKeys, p.keys - first_key);
  copy_rows(head.k, first_key, keys, p.features, T(1), kKeys, m.k, m.q_step);
  transpose_tile(keys, p.features, head.k[first_key], head.k.step, m.k_t, kKeys);
  transpose_tile(keys, p.value_features, head.v[first_key], head.v.step, m.v_t, kKeys);
  std::fill_n(m.dk, kKeys * m.q_step, T(0));
  std::fill_n(m.dv, kKeys * m.v_step, T(0));
  const int64_t first_query = p.causal ? first_key / kQueries * kQueries : 0;
  for (int64_t query = first_query; query < p.queries; query += kQueries) {
    const Tile tile(p, query, first_key);
    if (tile.seen(tile.queries - 1) == 0) continue;
    const T *const q = m.q + query * m.q_step, *const g = m.g + query * m.v_step;
    multiply_scores(tile, p.features, q, m.q_step, m.k_t, m.scores);
    multiply_scores(tile, p.value_features, g, m.v_step, m.v_t, m.d_scores);
    for (int64_t row = 0; row < tile.queries; ++row)
      if (tile.width(row) > 0)
        grad_row(tile, head, m, row, grads.d_bias.data ? grads.d_bias[query + row] + first_key : nullptr);
    for (int64_t row = tile.queries; row < tile.rows(); ++row) {
      std::fill_n(m.scores + row * kKeys, tile.width(row), T(0));
      std::fill_n(m.d_scores + row * kKeys, tile.width(row), T(0));
    }
    if (grads.dv.data) add_from_queries(tile, m.scores, g, m.dv, m.v_step);
    if (grads.dk.data) add_from_queries(tile, m.d_scores, q, m.dk, m.q_step);
    if (grads.dq) add_from_keys(tile, m.d_scores, m.k, m.dq + query * m.q_step, m.q_step);
  }
  for (int64_t row = 0; grads.dk.data && row < keys; ++row)
    std::copy_n(m.dk + row * m.q_step, p.features, grads.dk[first_key + row]);
  for (int64_t row = 0; grads.dv.data && row < keys; ++row)
    std::copy_n(m.dv + row * m.v_step, p.value_features, grads.dv[first_key + row]);
}

template <class T>
void grad_end(const AttentionPlan& p, RowsOf<T> dq, const T* memory) {
  const BackwardMemory<T> m(p, const_cast<T*>(memory));
  const T scale = T(p.scale);
  for (int64_t row = 0; row < p.queries; ++row) {
    const T* const from = m.dq + row * m.q_step;
    for (int64_t i = 0; i < p.features; ++i) dq[row][i] = from[i] * scale;
  }
}

int64_t Memory(const AttentionPlan& p) { return ForwardMemory<float>(p, nullptr).size(nullptr); }
int64_t GradMemory(const AttentionPlan& p) { return BackwardMemory<float>(p, nullptr).size; }

#define LUNAGRAD_NAMES(T, name)                                                                            \
  void Rows##name(const AttentionPlan& p, const AttentionHead<T>& head, bool packed, int64_t first,        \
                  RowsOf<T> out, T* lse, T* memory) {                                                      \
    rows(p, head, packed, first, out, lse, memory);                                                        \
  }                                                                                                        \
  void Begin##name(const AttentionPlan& p, const AttentionHead<T>& head, const AttentionResult<T>& result, \
                   T* memory) {                                                                            \
    grad_begin(p, head, result, memory);                                                                   \
  }                                                                                                        \
  void Keys##name(const AttentionPlan& p, const AttentionHead<T>& head, int64_t first_key,                 \
                  const AttentionGrads<T>& grads, T* memory) {                                             \
    grad_keys(p, head, first_key, grads, memory);                                                          \
  }                                                                                                        \
  void End##name(const AttentionPlan& p, RowsOf<T> dq, const T* memory) { grad_end(p, dq, memory); }
LUNAGRAD_NAMES(float, F32)
LUNAGRAD_NAMES(double, F64)
#undef LUNAGRAD_NAMES

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(Memory);
HWY_EXPORT(GradMemory);

}  // namespace

int64_t attention_memory(const AttentionPlan& p) { return HWY_DYNAMIC_DISPATCH(Memory)(p); }
int64_t attention_grad_memory(const AttentionPlan& p) { return HWY_DYNAMIC_DISPATCH(GradMemory)(p); }

#define LUNAGRAD_FUNCTIONS(T, name)                                                                     \
  namespace {                                                                                           \
  HWY_EXPORT(Rows##name);                                                                               \
  HWY_EXPORT(Begin##name);                                                                              \
  HWY_EXPORT(Keys##name);                                                                               \
  HWY_EXPORT(End##name);                                                                                \
  }                                                                                                     \
  template <>                                                                                           \
  void attention_rows(const AttentionPlan& p, const AttentionHead<T>& head, bool packed, int64_t first, \
                      RowsOf<T> out, T* lse, T* memory) {                                               \
    HWY_DYNAMIC_DISPATCH(Rows##name)(p, head, packed, first, out, lse, memory);                         \
  }                                                                                                     \
  template <>                                                                                           \
  void attention_grad_begin(const AttentionPlan& p, const AttentionHead<T>& head,                       \
                            const AttentionResult<T>& result, T* memory) {                              \
    HWY_DYNAMIC_DISPATCH(Begin##name)(p, head, result, memory);                                         \
  }                                                                                                     \
  template <>                                                                                           \
  void attention_grad_keys(const AttentionPlan& p, const AttentionHead<T>& head, int64_t first_key,     \
                           const AttentionGrads<T>& grads, T* memory) {                                 \
    HWY_DYNAMIC_DISPATCH(Keys##name)(p, head, first_key, grads, memory);                                \
  }                                                                                                     \
  template <>                                                                                           \
  void attention_grad_end(const AttentionPlan& p, RowsOf<T> dq, const T* memory) {                      \
    HWY_DYNAMIC_DISPATCH(End##name)(p, dq, memory);                                                     \
  }
LUNAGRAD_FUNCTIONS(float, F32)
LUNAGRAD_FUNCTIONS(double, F64)
#undef LUNAGRAD_FUNCTIONS

}  // namespace lunagrad
#endif  // HWY_ONCE
