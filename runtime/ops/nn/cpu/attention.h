#pragma once
// Attention in tiles of queries and keys, with SIMD selected at run time: softmax(q k^T scale + mask) v and
// its gradients without a matrix of all scores. T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention"
// (NeurIPS 2022); the running maximum is from M. Milakov and N. Gimelshein, "Online normalizer calculation
// for softmax" (2018). Pure loops on memory that the caller provides; any thread. T is float or double.
#include <cstdint>

#include "runtime/ops/random/cpu/random.h"

namespace lunagrad {

// Queries and keys of a tile. The tile's f32 scores fill a quarter of a 32 KiB cache.
inline constexpr int64_t kAttentionQueries = 32, kAttentionKeys = 64;

// Rows with unit stride, `step` elements apart; data may be null.
template <class T>
struct RowsOf {
  T* data = nullptr;
  int64_t step = 0;
  T* operator[](int64_t row) const { return data + row * step; }
};

// The properties that all heads share.
struct AttentionPlan {
  int64_t queries, keys, features, value_features;
  bool causal;      // query i sees keys 0 … i
  double scale;     // factor of q k^T
  double softcap;   // c: scores become c tanh(score / c); 0: none
  double dropout;   // probability that a weight is dropped
  RandomDraw draw;  // word (head queries + i) row_words() + j decides whether weight (head, i, j) is dropped
  int64_t usable_keys() const { return causal && queries < keys ? queries : keys; }
  int64_t row_words() const { return (keys + 3) / 4 * 4; }
};

// One head. A bool mask selects keys, any other mask is added to the scores; with a step of 0 all queries use
// one row of it.
template <class T>
struct AttentionHead {
  RowsOf<const T> q, k, v;
  RowsOf<const uint8_t> allowed;
  RowsOf<const T> bias;
  int64_t number;  // the head's number, for the draw
};

// Elements of T that the functions below need as `memory`, aligned to 64 bytes.
int64_t attention_memory(const AttentionPlan&);
int64_t attention_grad_memory(const AttentionPlan&);

// Computes rows first … first + kAttentionQueries of one head: the result, and lse = log sum exp of the
// scores. A query whose keys are all masked has result 0 and lse +inf. `packed`: memory still has the
// contents from the last call for the same head.
template <class T>
void attention_rows(const AttentionPlan&, const AttentionHead<T>&, bool packed, int64_t first, RowsOf<T> out,
                    T* lse, T* memory);

// The gradients of one head: call begin, then once for each block of kAttentionKeys keys, which starts at
// first_key, then end. d_lse may be null: lse has no gradient.
template <class T>
struct AttentionResult {
  RowsOf<const T> out, d_out;
  const T *lse, *d_lse;
};
template <class T>
void attention_grad_begin(const AttentionPlan&, const AttentionHead<T>&, const AttentionResult<T>&,
                          T* memory);
// Each pointer may be null. dk and dv are overwritten; d_bias (the mask's gradient) accumulates. All point to
// the first row.
template <class T>
struct AttentionGrads {
  RowsOf<T> dk, dv, d_bias;
  bool dq;
};
template <class T>
void attention_grad_keys(const AttentionPlan&, const AttentionHead<T>&, int64_t first_key,
                         const AttentionGrads<T>&, T* memory);
template <class T>
void attention_grad_end(const AttentionPlan&, RowsOf<T> dq, const T* memory);

}  // namespace lunagrad
