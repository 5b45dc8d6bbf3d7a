// Attention and its gradients, for heads of up to 256 features. In f32, tiles of scores stay on chip
// (gpu/ops/nn/attention.comp), or matrix products compute them where these are faster (attention_products.h).
// 16-bit operands go to the matrix units, or are converted to f32.
#include <algorithm>
#include <bit>
#include <cmath>

#include "gpu/ops/iteration.h"
#include "gpu/ops/nn/attention_operands.h"
#include "gpu/ops/nn/attention_products.h"
#include "gpu/ops/nn/attention_tiles.h"
#include "gpu/ops/nn/attention_units.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/through_f32.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Attention, shaders::AttentionGrad;

Tensor swap_heads(const Tensor& x) { return transpose(x, -3, -2); }

// Returns x itself if four features at a time can be loaded from it, else a contiguous copy.
Tensor in_fours(const Tensor& x) {
  const auto aligned = [](int64_t step) { return step % 4 == 0; };
  if (x.strides().back() == 1 && x.offset() % 4 == 0 &&
      std::all_of(x.strides().begin(), x.strides().end() - 1, aligned))
    return x;
  return clone(x);
}

bool supports_operands(const Call& call, size_t first) {
  const Tensor &q = call.in[first], &k = call.in[first + 1], &v = call.in[first + 2];
  const auto fits = [](const Tensor& x) { return x.size(-1) % 4 == 0 && x.size(-1) <= 256 && x.numel() > 0; };
  const Tensor& mask = call.in[first + kMask];
  const bool takes_mask = !mask.defined() || mask.dtype() == DType::boolean || mask.dtype() == DType::f32;
  return (q.dtype() == DType::f32 || is_16bit_float(q.dtype())) && takes_mask &&
         q.ndim() - 2 <= kMostBatchDims && fits(q) && fits(k) && fits(v) &&
         // Dropout numbers the pairs of a query and a key over all heads.
         (call.args[kDropout].f == 0 || heads_of(q) * q.size(-2) * k.size(-2) < most_elements());
}
bool supports_attention(const Call& call) { return supports_operands(call, 0); }
bool supports_grad(const Call& call) { return supports_operands(call, 1); }

// The tiles of attention.comp hold few rows of more than kTileFeatures features. Its gradients compute the
// scores twice, which costs more than storing them if there are enough features for each score.
constexpr int64_t kTileFeatures = 64;
int64_t most_features(const Call& call, size_t first) {
  return std::max(call.in[first].size(-1), call.in[first + 2].size(-1));
}
bool products_are_faster(const Call& call) { return most_features(call, 0) > kTileFeatures; }
bool grad_products_are_faster(const Call& call) {
  const int64_t features = most_features(call, 1), queries = call.in[1].size(-2), keys = call.in[2].size(-2);
  if (features > kTileFeatures) return true;
  // The tiles skip all keys after a query, blocks of queries only some of them.
  constexpr int64_t kMostCausalKeys = 512;
  const bool in_fours = queries % 4 == 0 && keys % 4 == 0;  // rows of scores that are loaded four at a time
  return features > kTileFeatures / 2 && in_fours && keys >= kTileFeatures &&
         (!call.flag(kCausal) || keys <= kMostCausalKeys);
}

void run_attention(const Call& call, Recorder& recorder) {
  if (is_16bit_float(call.input(0).dtype()))
    return attention_on_units(call, recorder) || attention_by_products(call, recorder)
               ? void()
               : run_in_f32(call, run_attention, recorder);
  if (products_are_faster(call) && attention_by_products(call, recorder)) return;
  const NoGrad off;
  const Tensor q = in_fours(call.input(0)), k = in_fours(call.input(1)), v = in_fours(call.input(2));
  const Tensor result = call.flag(kInnerHeads) ? swap_heads(call.output()) : call.output();
  const AttentionTiles tiles = attention_tiles(std::max(q.size(-1), v.size(-1)), 1, recorder.physical);
  Launch launch(recorder);
  AttentionArguments arguments{};
  arguments.q = attention_rows(q, launch.reads(q));
  arguments.k = attention_rows(k, launch.reads(k));
  arguments.v = attention_rows(v, launch.reads(v));
  arguments.result = attention_rows(result, launch.writes(result));
  arguments.lse = launch.writes(call.output(1));
  set_attention(arguments, call, 0, launch);
  arguments.blocks = (arguments.queries + tiles.own - 1) / tiles.own;
  launch.multiplies(scores_of(q, k) * double(q.size(-1) + v.size(-1)));
  launch.run_in_turns(Attention{.r = tiles.own,
                                .s = tiles.passing,
                                .d = tiles.features,
                                .causal = call.flag(kCausal),
                                .mask = kind_of_mask(call.in[kMask]),
                                .drops = call.args[kDropout].f > 0,
                                .caps = call.real(kSoftcap) > 0},
                      arguments.blocks * uint32_t(heads_of(q)), bytes_of(arguments));
}

// The launches of the gradients, which share most of their arguments.
class Gradient {
 public:
  Gradient(const Call& call, Recorder& recorder)
      : call_(call),
        recorder_(recorder),
        q_(in_fours(call.input(1))),
        k_(in_fours(call.input(2))),
        v_(in_fours(call.input(3))),
        d_out_(in_fours(laid_out(call.input(0)))),
        delta_(contiguous(sum(d_out_ * laid_out(call.input(5)), {-1}))),
        tiles_(attention_tiles(std::max(q_.size(-1), v_.size(-1)), 2, recorder.physical)) {
    if (call.has(7)) delta_ = delta_ - call.input(7);
  }

  // kOfQueries: the gradient of the queries. kOfKeys: the gradients of keys and values. An undefined output
  // is not computed.
  void of_rows(uint32_t of, const Tensor& first, const Tensor& second) {
    Launch launch(recorder_);
    AttentionGradArguments arguments = arguments_for(of, launch);
    const Tensor* const results[2] = {&first, &second};
    for (int i = 0; i < 2; ++i) {
      if (!results[i]->defined()) continue;
      const Tensor result = laid_out(*results[i]);
      arguments.result[i] = attention_rows(result, launch.writes(result));
    }
    arguments.blocks = (arguments.own_rows + tiles_.own - 1) / tiles_.own;
    arguments.items = arguments.blocks * arguments.heads;
    run(of, arguments, launch);
  }
  // The gradient of a mask, of the size [queries, keys].
  void of_mask(const Tensor& result) {
    const uint32_t busy = recorder_.rates.busy_groups(8);
    Launch launch(recorder_);
    AttentionGradArguments arguments = arguments_for(AttentionGrad::kOfMask, launch);
    arguments.blocks = (arguments.own_rows + tiles_.own - 1) / tiles_.own *
                       ((arguments.passing_rows + tiles_.passing - 1) / tiles_.passing);
    const uint32_t masks = uint32_t(heads_of(result)), items = arguments.blocks * masks;
    arguments.parts = std::clamp(busy / items, 1u, arguments.heads / masks);
    arguments.items = items * arguments.parts;
    const Tensor sums = arguments.parts == 1 ? result
                                             : Tensor::empty({int64_t(arguments.parts), result.numel()},
                                                             DType::f32, result.device());
    arguments.mask_result = attention_mask(result, launch.writes(sums), q_, k_);
    run(AttentionGrad::kOfMask, arguments, launch);
    if (arguments.parts > 1) add_parts(result, sums, recorder_);
  }

 private:
  Tensor laid_out(const Tensor& x) const { return call_.flag(kInnerHeads) ? swap_heads(x) : x; }

  AttentionGradArguments arguments_for(uint32_t of, Launch& launch) const {
    const bool of_keys = of == AttentionGrad::kOfKeys;
    const Tensor own[2] = {of_keys ? k_ : q_, of_keys ? v_ : d_out_},
                 passing[2] = {of_keys ? q_ : k_, of_keys ? d_out_ : v_};
    AttentionGradArguments arguments{};
    for (int i = 0; i < 2; ++i) {
      arguments.own[i] = attention_rows(own[i], launch.reads(own[i]));
      arguments.passing[i] = attention_rows(passing[i], launch.reads(passing[i]));
    }
    arguments.lse = launch.reads(call_.input(6));
    arguments.delta = launch.reads(delta_);
    set_attention(arguments, call_, 1, launch);
    arguments.own_rows = uint32_t(own[0].size(-2));
    arguments.passing_rows = uint32_t(passing[0].size(-2));
    return arguments;
  }
  void run(uint32_t of, const AttentionGradArguments& arguments, Launch& launch) const {
    const int products = of == AttentionGrad::kOfMask ? 1 : 2;
    launch.multiplies(scores_of(q_, k_) * double(q_.size(-1) + v_.size(-1)) * products);
    launch.run_in_turns(AttentionGrad{.r = tiles_.own,
                                      .s = tiles_.passing,
                                      .d = tiles_.features,
                                      .causal = call_.flag(kCausal),
                                      .of = of,
                                      .mask = kind_of_mask(call_.in[1 + kMask]),
                                      .drops = call_.args[kDropout].f > 0,
                                      .caps = call_.real(kSoftcap) > 0},
                        arguments.items, bytes_of(arguments));
  }

  const Call& call_;
  Recorder& recorder_;
  Tensor q_, k_, v_, d_out_, delta_;
  AttentionTiles tiles_;
};

void run_grad(const Call& call, Recorder& recorder) {
  if (is_16bit_float(call.input(1).dtype()))
    return attention_grad_on_units(call, recorder) || attention_grad_by_products(call, recorder)
               ? void()
               : run_in_f32(call, run_grad, recorder);
  if (grad_products_are_faster(call) && attention_grad_by_products(call, recorder)) return;
  const NoGrad off;
  Gradient gradient(call, recorder);
  const auto wanted = [&](int i) { return call.flag(kWanted + i) ? call.output(i) : Tensor(); };
  const Tensor dq = wanted(0), dk = wanted(1), dv = wanted(2);
  if (dq.defined()) gradient.of_rows(AttentionGrad::kOfQueries, dq, {});
  if (dk.defined() || dv.defined()) gradient.of_rows(AttentionGrad::kOfKeys, dk, dv);
}

void run_mask_grad(const Call& call, Recorder& recorder) {
  if (is_16bit_float(call.input(1).dtype())) return run_in_f32(call, run_mask_grad, recorder);
  const NoGrad off;
  Gradient(call, recorder).of_mask(call.output());
}

}  // namespace

std::vector<KernelEntry> attention_kernels() {
  return {{find_op("_attention"), {supports_attention, run_attention}},
          {find_op("_attention_grad"), {supports_grad, run_grad}},
          {find_op("_attention_mask_grad"), {supports_grad, run_mask_grad}}};
}

}  // namespace lunagrad::gpu
