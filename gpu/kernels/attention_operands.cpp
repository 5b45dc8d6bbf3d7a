#include "gpu/kernels/attention_operands.h"

#include <algorithm>
#include <cmath>

namespace lunagrad::gpu {

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
