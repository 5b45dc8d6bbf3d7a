#include "gpu/ops/nn/attention_operands.h"

#include <algorithm>
#include <cmath>

namespace lunagrad::gpu {

namespace {

template <class A>
void set_shared(A& a, const Call& call, int first, Launch& launch) {
  const Tensor &q = call.input(first), &k = call.input(first + 1), &mask = call.in[size_t(first + kMask)];
  if (mask.defined()) a.mask = attention_mask(mask, launch.reads(mask), q, k);
  a.draw = attention_draw(call);
  a.batch = attention_batch(q);
  a.queries = uint32_t(q.size(-2));
  a.features = uint32_t(q.size(-1));
  a.value_features = uint32_t(call.input(first + 2).size(-1));
  a.scale = attention_scale(call);
}

}  // namespace

void set_attention(AttentionArguments& a, const Call& call, int first, Launch& launch) {
  set_shared(a, call, first, launch);
  a.keys = uint32_t(call.input(first + 1).size(-2));
}
void set_attention(AttentionGradArguments& a, const Call& call, int first, Launch& launch) {
  set_shared(a, call, first, launch);
  a.heads = uint32_t(heads_of(call.input(first)));
}

AttentionRows attention_rows(const Tensor& x, uint64_t address) {
  AttentionRows rows{address, x.strides()[x.ndim() - 2], {}};
  for (int d = 0; d < x.ndim() - 2; ++d) rows.batch[d] = x.strides()[d];
  return rows;
}

AttentionBatch attention_batch(const Tensor& x) {
  AttentionBatch batch{uint32_t(x.ndim() - 2), {}};
  for (int d = 0; d < x.ndim() - 2; ++d) batch.size[d] = uint32_t(x.shape()[d]);
  return batch;
}
AttentionMask attention_mask(const Tensor& mask, uint64_t address, const Tensor& q, const Tensor& k) {
  Shape scores = q.shape();
  scores[scores.size() - 1] = k.size(-2);
  const Strides strides = broadcast_strides(mask, scores);
  const int batch = scores.size() - 2;
  AttentionMask result{address, strides[batch], strides[batch + 1], {}};
  std::copy_n(strides.begin(), batch, result.batch);
  return result;
}
AttentionDraw attention_draw(const Call& call) {
  const double p = call.args[kDropout].f;
  const uint32_t threshold = uint32_t(std::min(std::round(p * 0x1p32), 0x1p32 - 1));
  return {call.args[kSeed].u, call.args[kStream].u, threshold, p < 1 ? float(1 / (1 - p)) : 0.0f};
}
AttentionScale attention_scale(const Call& call) {
  const double cap = call.real(kSoftcap);
  return {float(call.real(kScale)), float(cap), float(1 / cap)};
}
uint32_t kind_of_mask(const Tensor& mask) {
  if (!mask.defined()) return shaders::Attention::kNoMask;
  return mask.dtype() == DType::boolean ? shaders::Attention::kShows : shaders::Attention::kAdds;
}

int64_t heads_of(const Tensor& x) { return x.numel() / (x.size(-1) * x.size(-2)); }

double scores_of(const Tensor& q, const Tensor& k) {
  return double(heads_of(q)) * double(q.size(-2)) * double(k.size(-2));
}

}  // namespace lunagrad::gpu
