#pragma once
// Attention in tiles of queries and keys, by SIMD chosen at run time: softmax(q k^T scale + mask) v and its
// gradients without a matrix of all scores. T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention"
// (NeurIPS 2022); the running maximum is M. Milakov's and N. Gimelshein's, "Online normalizer calculation for
// softmax" (2018). Pure loops on memory that the caller provides; any thread. T is float or double.
#include <cstdint>

#include "runtime/cpu/random.h"

namespace lunagrad {

// Queries and keys of a tile. Its scores, f32, fill a quarter of a 32 KiB cache.
inline constexpr int64_t kAttentionQueries = 32, kAttentionKeys = 64;

// Rows of unit stride that lie `step` apart; data may be null.
template <class T>
struct RowsOf {
  T* data = nullptr;
  int64_t step = 0;
  T* operator[](int64_t row) const { return data + row * step; }
};

// What all heads have in common.
struct AttentionPlan {
  int64_t queries, keys, features, value_features;
  bool causal;      // query i sees keys 0 … i
  double scale;     // of q k^T
  double softcap;   // c: scores become c tanh(score / c); 0: none
  double dropout;   // probability that a weight is dropped
  RandomDraw draw;  // weight (head, i, j) is dropped where word (head queries + i) row_words() + j says so
  int64_t usable_keys() const { return causal && queries < keys ? queries : keys; }
  int64_t row_words() const { return (keys + 3) / 4 * 4; }
};

// One head. The mask is of booleans or of numbers to be added; a step of 0 has one row for all queries.
template <class T>
struct AttentionHead {
  RowsOf<const T> q, k, v;
  RowsOf<const uint8_t> allowed;
  RowsOf<const T> bias;
  int64_t number;  // for the draw
};

// Elements of T that the functions below need as `memory`, aligned to 64 bytes.
int64_t attention_memory(const AttentionPlan&);
int64_t attention_grad_memory(const AttentionPlan&);

// Rows first … first + kAttentionQueries of one head: the result and lse = log sum exp of the scores, +inf
// for a query that sees no key, whose result is 0. `packed`: memory is as the last call for the same head
// left it.
template <class T>
void attention_rows(const AttentionPlan&, const AttentionHead<T>&, bool packed, int64_t first, RowsOf<T> out,
                    T* lse, T* memory);

// The gradients of one head: begin, then each block of kAttentionKeys keys, which begins at first_key, then
// end. d_lse may be null: no gradient arrives for lse.
template <class T>
struct AttentionResult {
  RowsOf<const T> out, d_out;
  const T *lse, *d_lse;
};
template <class T>
void attention_grad_begin(const AttentionPlan&, const AttentionHead<T>&, const AttentionResult<T>&,
                          T* memory);
// Each may be null. dk and dv are written, d_bias (of the mask) is added to; all count from the first row.
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
