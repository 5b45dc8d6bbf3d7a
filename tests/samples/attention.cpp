#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

// The parameters are dropout_p, is_causal, scale and softcap.
const char* const kName = "scaled_dot_product_attention";

std::vector<Sample> attention_samples() {
  return {
      {kName, {real({3, 4}), real({5, 4}), real({5, 2}), absent()}},
      {kName, {real({2, 3, 4}), real({2, 3, 4}), real({2, 3, 4}), absent()}, {0.0, true}},
      // more queries than keys, and more keys than queries
      {kName, {real({2, 5, 3}), real({2, 3, 3}), real({2, 3, 5}), absent()}, {0.0, true, 0.7}},
      {kName, {real({2, 2, 3}), real({2, 4, 3}), real({2, 4, 2}), absent()}, {0.0, true, 0.7, 1.5}},
      // bool masks; a row may mask all keys
      {kName, {real({2, 3, 4}), real({2, 3, 4}), real({2, 3, 2}), boolean({3, 3})}},
      {kName,
       {real({2, 2, 3, 2}), real({2, 2, 4, 2}), real({2, 2, 4, 2}), boolean({2, 1, 1, 4})},
       {0.0, false}},
      {kName, {real({2, 3, 4}), real({2, 3, 4}), real({2, 3, 2}), real({3, 3})}, {0.0, true}},
      {kName,
       {real({2, 2, 3, 2}), real({2, 2, 4, 2}), real({2, 2, 4, 2}), real({2, 3, 4})},
       {0.0, false, {}, 2.0}},
      // A number added to all scores of a query changes nothing: the gradient of the mask is exactly 0.
      // Rounding errors come from sums over scores of about 0.1.
      {kName, {real({2, 3, 2}), real({2, 4, 2}), real({2, 4, 2}), real({2, 3, 1})}, {}, true, false, 0.1},
      {kName, {real({2, 3, 2}), real({2, 4, 2}), real({2, 4, 2}), real({4})}},
      // batches that broadcast
      {kName, {real({2, 1, 3, 2}), real({3, 4, 2}), real({4, 2}), real({2, 1, 3, 4})}},
      // dropout
      {kName, {real({2, 3, 4}), real({2, 5, 4}), real({2, 5, 2}), absent()}, {0.4}},
      {kName, {real({2, 3, 4}), real({2, 3, 4}), real({2, 3, 4}), real({3})}, {0.3, true, {}, 2.0}},
      // several tiles, and edges of them
      {kName, {real({2, 70, 5}), real({2, 70, 5}), real({2, 70, 3}), absent()}, {0.0, true}, false},
      {kName, {real({37, 20}), real({131, 20}), real({131, 18}), absent()}, {0.2}, false},
      {kName, {real({66, 3}), real({70, 3}), real({70, 2}), real({66, 70})}, {0.0, true}, false},
      {kName,
       {real({3, 33, 3}), real({3, 65, 3}), real({3, 65, 2}), real({65})},
       {0.1, false, {}, 3.0},
       false},
  };
}

std::vector<BadSample> bad_attention_samples() {
  return {
      {kName,
       {real({4}), real({5, 4}), real({5, 2}), absent()},
       {},
       ": query needs at least 2 dims (got shape [4])"},
      {kName,
       {real({3, 4}), real({5, 3}), real({5, 2}), absent()},
       {},
       ": query [3, 4], key [5, 3] and value [5, 2] do not fit: query and key need equal last dims"},
      {kName, {real({3, 4}), real({5, 4}), real({6, 2}), absent()}, {}, "do not fit"},
      {kName,
       {real({2, 3, 4}), real({3, 5, 4}), real({5, 2}), absent()},
       {},
       ": shapes [2] and [3] do not broadcast"},
      {kName,
       {real({3, 4}), real({5, 4}), real({5, 2}), boolean({5, 3})},
       {},
       ": attn_mask of shape [5, 3] does not broadcast to the scores' [3, 5]"},
      {kName,
       {real({3, 4}), real({5, 4}), real({5, 2}), real({2, 3, 5})},
       {},
       ": attn_mask of shape [2, 3, 5] does not broadcast to the scores' [3, 5]"},
      {kName,
       {real({3, 4}), real({5, 4}), real({5, 2}), index({3, 5}, 0, 2)},
       {},
       ": attn_mask must be bool (true takes part) or floating (is added), got i64"},
      {kName,
       {real({3, 4}), index({5, 4}, 0, 9), real({5, 2}), absent()},
       {},
       ": query, key and value must have one floating type (got f64, i64 and f64)"},
      {kName,
       {real({3, 4}), real({5, 4}), real({5, 2}), absent()},
       {1.5},
       ": dropout_p must lie in [0, 1] (got 1.5)"},
      {kName,
       {real({3, 4}), real({5, 4}), real({5, 2}), absent()},
       {0.0, false, {}, -1.0},
       ": softcap must be a finite number of at least 0 (got -1)"},
  };
}

}  // namespace

extern const SampleFamily kAttention{attention_samples, bad_attention_samples};

}  // namespace lunagrad::tests
