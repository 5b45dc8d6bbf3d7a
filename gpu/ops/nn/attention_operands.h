#pragma once
// Arguments that the attention kernels share, in the layout of gpu/ops/nn/attention.glsl.
#include "gpu/ops/iteration.h"
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Parameters of attention's hidden op records; the position of the mask, after query, key and value; and the
// arguments of dropout.
enum AttentionParam { kCausal, kScale, kSoftcap, kInnerHeads, kWanted };
inline constexpr int kMask = 3;
enum AttentionArgument { kSeed, kStream, kDropout };
inline constexpr int kMostBatchDims = 6;

struct AttentionBatch {
  uint32_t dims;
  uint32_t size[kMostBatchDims];
};
struct AttentionMask {
  uint64_t at;
  int64_t query, key;
  int64_t batch[kMostBatchDims];
};
struct AttentionDraw {
  uint64_t seed, stream;
  uint32_t threshold;
  float kept;
};
struct AttentionScale {
  float factor, cap, over_cap;
};

struct AttentionRows {
  uint64_t at;
  int64_t step;
  int64_t batch[kMostBatchDims];
};

// The arguments of attention.comp and attention_units.comp; below, the arguments of their gradients.
struct AttentionArguments {
  AttentionRows q, k, v, result;
  uint64_t lse;
  AttentionMask mask;
  AttentionDraw draw;
  AttentionBatch batch;
  uint32_t queries, keys, features, value_features;
  uint32_t blocks;
  AttentionScale scale;
};
static_assert(offsetof(AttentionArguments, batch) == 360 && offsetof(AttentionArguments, scale) == 408);
struct AttentionGradArguments {
  AttentionRows own[2], passing[2], result[2];
  uint64_t lse, delta;
  AttentionMask mask, mask_result;
  AttentionDraw draw;
  AttentionBatch batch;
  uint32_t own_rows, passing_rows, queries, features, value_features;
  uint32_t blocks, items, heads, parts;
  AttentionScale scale;
};
static_assert(offsetof(AttentionGradArguments, batch) == 568 &&
              offsetof(AttentionGradArguments, scale) == 632);

AttentionRows attention_rows(const Tensor&, uint64_t address);
// Sets sizes, mask, dropout and scale. The query is operand `first` of the call.
void set_attention(AttentionArguments&, const Call&, int first, Launch&);
void set_attention(AttentionGradArguments&, const Call&, int first, Launch&);

// The dims before the last two.
AttentionBatch attention_batch(const Tensor&);
// The mask broadcast to all scores.
AttentionMask attention_mask(const Tensor& mask, uint64_t address, const Tensor& q, const Tensor& k);
uint32_t kind_of_mask(const Tensor& mask);
// Dropout that draws the same random words as runtime/ops/nn/cpu/attention_kernels.cpp.
AttentionDraw attention_draw(const Call&);
AttentionScale attention_scale(const Call&);

int64_t heads_of(const Tensor&);
double scores_of(const Tensor& q, const Tensor& k);

}  // namespace lunagrad::gpu
