// Attention and its gradients in f32 without a matrix of all scores (gpu/shaders/attention.comp): causal or
// not, with a mask, dropout or neither, of up to 128 features. With a soft cap, or a mask that requires a gradient, the
// composition of the op runs on the device instead.
#include <algorithm>
#include <cmath>

#include "gpu/kernels.h"
#include "gpu/kernels/iteration.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

enum Param { kCausal, kScale, kSoftcap, kInnerHeads, kWanted };
constexpr int kMask = 3;  // input, behind query, key and value
enum Argument { kSeed, kStream, kDropout };
constexpr int kMostBatchDims = 6;
constexpr int64_t kMostWeights = int64_t(1) << 31;  // of all queries and keys, where each has a word of a draw

// As in attention.glsl.
struct Rows {
  uint64_t at;
  int64_t step;
  int64_t batch[kMostBatchDims];
};
struct Batch {
  uint32_t dims;
  uint32_t size[kMostBatchDims];
};
struct Mask {
  uint64_t at;
  int64_t query, key;
  int64_t batch[kMostBatchDims];
};
struct Draw {
  uint64_t seed, stream;
  uint32_t threshold;
  float kept;
};
struct Arguments {
  Rows q, k, v, result;
  uint64_t lse;
  Mask mask;
  Draw draw;
  Batch batch;
  uint32_t queries, keys, features, value_features;
  uint32_t blocks, items;
  float scale;
};
static_assert(offsetof(Arguments, batch) == 360 && offsetof(Arguments, scale) == 412);
struct GradArguments {
  Rows own[2], passing[2], result[2];
  uint64_t lse, delta;
  Mask mask;
  Draw draw;
  Batch batch;
  uint32_t own_rows, passing_rows, queries, features, value_features;
  uint32_t blocks, items;
  float scale;
};
static_assert(offsetof(GradArguments, batch) == 496 && offsetof(GradArguments, scale) == 552);

// How many rows a work group owns and how many pass by at a time, so that tiles fit into shared memory.
struct Tiles {
  uint32_t features, own, passing;
};
Tiles tiles_of(int64_t most_features, uint32_t own_tiles, const PhysicalDevice& physical) {
  const uint32_t features = most_features <= 32 ? 32 : most_features <= 64 ? 64 : 128;
  const bool cpu = physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const uint32_t limit = physical.limits.maxComputeSharedMemorySize;
  for (const uint32_t own : {64u, 32u, 16u})
    for (const uint32_t passing : {32u, 16u, 8u}) {
      if (cpu && own * passing > 512) continue;
      const uint32_t row = features + 4,
                     bytes = (own_tiles * (own + passing) * row + passing * (own + 4) + 3 * own) * 4;
      // A thread holds the results of at least one four of rows and at most four fours; of one where the
      // driver turns every value that lives across a barrier into memory.
      const uint32_t fours = own * features / 16 / 128, most = cpu ? 1 : 4 / own_tiles;
      if (bytes <= limit && fours >= 1 && fours <= most) return {features, own, passing};
    }
  fail_as(ErrorKind::device, "vulkan: ", physical.name, " has too little shared memory for attention");
}

Tensor swap_heads(const Tensor& x) { return transpose(x, -3, -2); }

// What can be read four features at a time, in a copy if need be.
Tensor in_fours(const Tensor& x) {
  const auto aligned = [](int64_t step) { return step % 4 == 0; };
  if (x.strides().back() == 1 && x.offset() % 4 == 0 &&
      std::all_of(x.strides().begin(), x.strides().end() - 1, aligned))
    return x;
  return clone(x);
}

Rows rows_of(const Tensor& x, uint64_t address) {
  Rows rows{address, x.strides()[x.ndim() - 2], {}};
  for (int d = 0; d < x.ndim() - 2; ++d) rows.batch[d] = x.strides()[d];
  return rows;
}
Batch batch_of(const Tensor& x) {
  Batch batch{uint32_t(x.ndim() - 2), {}};
  for (int d = 0; d < x.ndim() - 2; ++d) batch.size[d] = uint32_t(x.shape()[d]);
  return batch;
}
// As every query of every head sees it.
Mask mask_of(const Tensor& mask, uint64_t address, const Tensor& q, const Tensor& k) {
  Shape scores = q.shape();
  scores[scores.size() - 1] = k.size(-2);
  const Strides strides = broadcast_strides(mask, scores);
  const int batch = scores.size() - 2;
  Mask result{address, strides[batch], strides[batch + 1], {}};
  std::copy_n(strides.begin(), batch, result.batch);
  return result;
}
// As runtime/cpu/attention_kernels.cpp drops them.
Draw draw_of(const Call& call) {
  const double p = call.args[kDropout].f;
  const uint32_t threshold = uint32_t(std::min(std::round(p * 0x1p32), 0x1p32 - 1));
  return {call.args[kSeed].u, call.args[kStream].u, threshold, p < 1 ? float(1 / (1 - p)) : 0.0f};
}
uint32_t kind_of(const Tensor& mask) { return !mask.defined() ? 0 : mask.dtype() == DType::boolean ? 1 : 2; }

int64_t heads_of(const Tensor& x) { return x.numel() / (x.size(-1) * x.size(-2)); }

double scores_of(const Tensor& q, const Tensor& k) {
  return double(heads_of(q)) * double(q.size(-2)) * double(k.size(-2));
}

bool supports_operands(const Call& call, size_t first) {
  const Tensor &q = call.in[first], &k = call.in[first + 1], &v = call.in[first + 2];
  const auto fits = [](const Tensor& x) { return x.size(-1) % 4 == 0 && x.size(-1) <= 128 && x.numel() > 0; };
  const Tensor& mask = call.in[first + kMask];
  const bool takes_mask = !mask.defined() || mask.dtype() == DType::boolean || mask.dtype() == DType::f32;
  return q.dtype() == DType::f32 && takes_mask && q.ndim() - 2 <= kMostBatchDims && fits(q) && fits(k) && fits(v) &&
         call.params[kSoftcap].f == 0 &&
         (call.args[kDropout].f == 0 || heads_of(q) * q.size(-2) * k.size(-2) < kMostWeights);
}
bool supports(const Call& call) {
  return supports_operands(call, 0) && !(call.has(kMask) && call.input(kMask).requires_grad());
}
bool supports_grad(const Call& call) { return supports_operands(call, 1); }

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor q = in_fours(call.input(0)), k = in_fours(call.input(1)), v = in_fours(call.input(2));
  const Tensor result = call.flag(kInnerHeads) ? swap_heads(call.output()) : call.output();
  const Tiles tiles = tiles_of(std::max(q.size(-1), v.size(-1)), 1, recorder.physical);
  Launch launch(recorder);
  Arguments arguments{};
  arguments.q = rows_of(q, launch.reads(q));
  arguments.k = rows_of(k, launch.reads(k));
  arguments.v = rows_of(v, launch.reads(v));
  arguments.result = rows_of(result, launch.writes(result));
  arguments.lse = launch.writes(call.output(1));
  const Tensor& mask = call.in[kMask];
  if (mask.defined()) arguments.mask = mask_of(mask, launch.reads(mask), q, k);
  arguments.draw = draw_of(call);
  arguments.batch = batch_of(q);
  arguments.queries = uint32_t(q.size(-2));
  arguments.keys = uint32_t(k.size(-2));
  arguments.features = uint32_t(q.size(-1));
  arguments.value_features = uint32_t(v.size(-1));
  arguments.blocks = (arguments.queries + tiles.own - 1) / tiles.own;
  arguments.items = arguments.blocks * uint32_t(heads_of(q));
  arguments.scale = float(call.real(kScale));
  launch.multiplies(scores_of(q, k) * double(q.size(-1) + v.size(-1)));
  static const ShaderCode& code = find_shader("attention");
  launch.run(code, {tiles.own, tiles.passing, tiles.features, uint32_t(call.flag(kCausal)), 0, kind_of(mask),
              uint32_t(call.args[kDropout].f > 0)},
             {group_count(arguments.items, recorder)}, bytes_of(arguments));
}

void run_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const bool inner = call.flag(kInnerHeads);
  const auto result_of = [&](const Tensor& x) { return inner ? swap_heads(x) : x; };
  const Tensor q = in_fours(call.input(1)), k = in_fours(call.input(2)), v = in_fours(call.input(3));
  const Tensor d_out = in_fours(result_of(call.input(0))), out = result_of(call.input(5));
  const Tensor& lse = call.input(6);
  Tensor delta = contiguous(sum(d_out * out, {-1}));
  if (call.has(7)) delta = delta - call.input(7);
  const Tiles tiles = tiles_of(std::max(q.size(-1), v.size(-1)), 2, recorder.physical);
  static const ShaderCode& code = find_shader("attention_grad");
  for (const bool of_keys : {false, true}) {
    const Tensor own[2] = {of_keys ? k : q, of_keys ? v : d_out},
                 passing[2] = {of_keys ? q : k, of_keys ? d_out : v};
    const bool wanted[2] = {call.flag(kWanted + of_keys), of_keys && call.flag(kWanted + 2)};
    if (!wanted[0] && !wanted[1]) continue;
    Launch launch(recorder);
    GradArguments arguments{};
    for (int i = 0; i < 2; ++i) {
      arguments.own[i] = rows_of(own[i], launch.reads(own[i]));
      arguments.passing[i] = rows_of(passing[i], launch.reads(passing[i]));
      if (!wanted[i]) continue;
      const Tensor result = result_of(call.output(of_keys + i));
      arguments.result[i] = rows_of(result, launch.writes(result));
    }
    arguments.lse = launch.reads(lse);
    arguments.delta = launch.reads(delta);
    const Tensor& mask = call.in[1 + kMask];
    if (mask.defined()) arguments.mask = mask_of(mask, launch.reads(mask), q, k);
    arguments.draw = draw_of(call);
    arguments.batch = batch_of(q);
    arguments.own_rows = uint32_t(own[0].size(-2));
    arguments.passing_rows = uint32_t(passing[0].size(-2));
    arguments.queries = uint32_t(q.size(-2));
    arguments.features = uint32_t(q.size(-1));
    arguments.value_features = uint32_t(v.size(-1));
    arguments.blocks = (arguments.own_rows + tiles.own - 1) / tiles.own;
    arguments.items = arguments.blocks * uint32_t(heads_of(q));
    arguments.scale = float(call.real(kScale));
    launch.multiplies(scores_of(q, k) * double(q.size(-1) + v.size(-1)) * 2);
    launch.run(code,
               {tiles.own, tiles.passing, tiles.features, uint32_t(call.flag(kCausal)), uint32_t(of_keys),
                kind_of(mask), uint32_t(call.args[kDropout].f > 0)},
               {group_count(arguments.items, recorder)}, bytes_of(arguments));
  }
}

}  // namespace

std::vector<KernelEntry> attention_kernels() {
  return {{find_op("_attention"), {supports, run}}, {find_op("_attention_grad"), {supports_grad, run_grad}}};
}

}  // namespace lunagrad::gpu
