#include "gpu/ops/nn/attention_products.h"

#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/nn/attention_operands.h"
#include "gpu/ops/products/matmul.h"
#include "gpu/ops/products/product.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::AttentionChanges, shaders::AttentionWeights;

struct AttentionWeightArguments {
  uint64_t products, weights, lse;
  AttentionMask mask;
  AttentionDraw draw;
  AttentionBatch batch;
  uint32_t heads, rows, width;
  uint32_t first_query, queries, keys;
  uint32_t first_head, inner, all_inner;
  AttentionScale scale;
};
static_assert(offsetof(AttentionWeightArguments, batch) == 120 &&
              offsetof(AttentionWeightArguments, scale) == 184);
struct AttentionChangeArguments {
  uint64_t products, reaches;
  uint64_t weights, changes;
  uint64_t lse, delta;
  AttentionMask mask;
  AttentionDraw draw;
  AttentionBatch batch;
  uint32_t heads, queries, keys;
  uint32_t first_head, inner, all_inner;
  AttentionScale scale;
};
static_assert(offsetof(AttentionChangeArguments, batch) == 144 &&
              offsetof(AttentionChangeArguments, scale) == 196);

constexpr int64_t kPartBytes = int64_t(96) << 20;  // bytes of a part's scores, in all their forms
constexpr int64_t kMostBytes = int64_t(1) << 30;   // most bytes of one head's scores

// Adds dims until there are at least two before the matrices.
Tensor lifted(Tensor x) {
  while (x.ndim() < 4) x = unsqueeze(x, 0);
  return x;
}

// A part of the heads: a range of the first dim and a range of the second one.
struct AttentionPart {
  int64_t begin[2], count[2];

  Tensor of(const Tensor& x) const { return narrow(narrow(x, 0, begin[0], count[0]), 1, begin[1], count[1]); }
};

// Calls f with parts of the heads; the scores of a part take about kPartBytes.
template <class F>
void each_part(const Tensor& q, int64_t bytes_of_head, F&& f) {
  const int64_t most[2] = {q.size(0), q.size(1)};
  const int64_t below = heads_of(q) / (most[0] * most[1]) * bytes_of_head;
  int64_t count[2] = {1, std::clamp<int64_t>(kPartBytes / below, 1, most[1])};
  if (count[1] == most[1]) count[0] = std::clamp<int64_t>(kPartBytes / (below * most[1]), 1, most[0]);
  AttentionPart part{};
  for (part.begin[0] = 0; part.begin[0] < most[0]; part.begin[0] += count[0])
    for (part.begin[1] = 0; part.begin[1] < most[1]; part.begin[1] += count[1]) {
      for (int d = 0; d < 2; ++d) part.count[d] = std::min(count[d], most[d] - part.begin[d]);
      f(part);
    }
}

// A tensor [heads of the part, rows, columns].
Tensor matrices(const Tensor& part_of_q, int64_t rows, int64_t columns, DType type) {
  Shape shape = part_of_q.shape();
  shape[shape.size() - 2] = rows;
  shape[shape.size() - 1] = columns;
  return Tensor::empty(shape, type, part_of_q.device());
}

// Sets the arguments that both kernels share.
template <class Arguments>
void set_part(Arguments& a, const Call& call, const Tensor& mask, const AttentionPart& part, const Tensor& q,
              const Tensor& k, Launch& launch) {
  const Tensor own = part.of(q);
  if (mask.defined()) {
    a.mask = attention_mask(mask, launch.reads(mask), q, k);
    const int64_t skipped = part.begin[0] * a.mask.batch[0] + part.begin[1] * a.mask.batch[1];
    a.mask.at += uint64_t(skipped) * item_size(mask.dtype());
  }
  const int64_t below = heads_of(q) / (q.size(0) * q.size(1));
  a.draw = attention_draw(call);
  a.batch = attention_batch(own);
  a.heads = uint32_t(heads_of(own));
  a.queries = uint32_t(q.size(-2));
  a.keys = uint32_t(k.size(-2));
  a.first_head = uint32_t((part.begin[0] * q.size(1) + part.begin[1]) * below);
  a.inner = uint32_t(part.count[1] * below);
  a.all_inner = uint32_t(q.size(1) * below);
  a.scale = attention_scale(call);
}

bool has_units(DType type, const PhysicalDevice& physical) {
  Product p;
  p.m = p.n = p.k = MatrixUnits::kSide;
  p.type = type;
  return unit_type_of(p, physical) != DType::f32;
}

Tensor swapped(const Call& call, const Tensor& x) {
  return lifted(call.flag(kInnerHeads) ? transpose(x, -3, -2) : x);
}

}  // namespace

bool attention_by_products(const Call& call, Recorder& recorder) {
  constexpr int64_t kLeastRows = 256, kGroupRows = 4;
  const DType type = call.input(0).dtype();
  const int64_t bytes = 4 + int64_t(item_size(type));  // of a score in both forms
  if (type != DType::f32 && !has_units(type, recorder.physical)) return false;
  const NoGrad off;
  const Tensor q = lifted(call.input(0)), k = lifted(call.input(1)), v = lifted(call.input(2));
  const Tensor result = swapped(call, call.output()), &mask = call.in[kMask];
  const int64_t queries = q.size(-2), keys = k.size(-2);
  const bool causal = call.flag(kCausal);
  // With a causal mask, earlier queries see fewer keys. Blocks of queries leave most of the masked scores
  // out.
  int64_t block = std::min(queries, std::max(kLeastRows, kPartBytes / (keys * bytes)));
  if (causal) block = std::min(block, std::max(kLeastRows, queries / 4));
  each_part(q, block * keys * bytes, [&](const AttentionPart& part) {
    const Tensor own = part.of(q);
    for (int64_t first = 0; first < queries; first += block) {
      const int64_t rows = std::min(block, queries - first),
                    width = causal ? std::min(first + rows, keys) : keys;
      const auto seen = [&](const Tensor& x) { return narrow(part.of(x), -2, 0, width); };
      const Tensor products = matrices(own, rows, width, DType::f32),
                   weights = matrices(own, rows, width, type);
      multiply(narrow(own, -2, first, rows), seen(k), true, {}, products, recorder);
      {
        Launch launch(recorder);
        AttentionWeightArguments a{};
        set_part(a, call, mask, part, q, k, launch);
        a.products = launch.reads(products);
        a.weights = launch.writes(weights);
        a.lse = launch.writes(call.output(1));
        a.rows = uint32_t(rows);
        a.width = uint32_t(width);
        a.first_query = uint32_t(first);
        launch.run(AttentionWeights{.causal = causal,
                                    .mask = kind_of_mask(mask),
                                    .drops = call.args[kDropout].f > 0,
                                    .caps = call.real(kSoftcap) > 0,
                                    .type = uint32_t(type)},
                   {group_count(uint64_t(a.heads * rows + kGroupRows - 1) / kGroupRows, recorder)},
                   bytes_of(a));
      }
      const Tensor out = matrices(own, rows, v.size(-1), type);
      multiply(weights, seen(v), false, {}, out, recorder);
      copy(narrow(part.of(result), -2, first, rows), out, recorder);
    }
  });
  return true;
}

bool attention_grad_by_products(const Call& call, Recorder& recorder) {
  const DType type = call.input(1).dtype();
  const int64_t bytes = 2 * (4 + int64_t(item_size(type)));  // of a score in all four forms
  const Tensor q = lifted(call.input(1)), k = lifted(call.input(2)), v = lifted(call.input(3));
  const int64_t queries = q.size(-2), keys = k.size(-2);
  if (type != DType::f32 && !has_units(type, recorder.physical)) return false;
  if (queries * keys * bytes > kMostBytes) return false;
  const NoGrad off;
  const Tensor d_out = swapped(call, call.input(0)), &mask = call.in[1 + kMask];
  const auto upcast = [&](int i) { return to(swapped(call, call.input(i)), DType::f32); };
  Tensor delta = contiguous(sum(upcast(0) * upcast(5), {-1}));
  if (call.has(7)) delta = delta - reshape(call.input(7), delta.shape());
  each_part(q, queries * keys * bytes, [&](const AttentionPart& part) {
    const Tensor own = part.of(q);
    const auto scores = [&](DType of) { return matrices(own, queries, keys, of); };
    const Tensor products = scores(DType::f32), reaches = scores(DType::f32), weights = scores(type),
                 changes = scores(type);
    multiply(own, part.of(k), true, {}, products, recorder);
    multiply(part.of(d_out), part.of(v), true, {}, reaches, recorder);
    {
      Launch launch(recorder);
      AttentionChangeArguments a{};
      set_part(a, call, mask, part, q, k, launch);
      a.products = launch.reads(products);
      a.reaches = launch.reads(reaches);
      a.weights = launch.writes(weights);
      a.changes = launch.writes(changes);
      a.lse = launch.reads(call.input(6));
      a.delta = launch.reads(delta);
      const uint64_t threads = uint64_t(a.heads) * a.queries * ((a.keys + 3) / 4);
      launch.run(AttentionChanges{.causal = call.flag(kCausal),
                                  .mask = kind_of_mask(mask),
                                  .drops = call.args[kDropout].f > 0,
                                  .caps = call.real(kSoftcap) > 0,
                                  .type = uint32_t(type)},
                 {group_count(threads / AttentionChanges::kThreads + 1, recorder)}, bytes_of(a));
    }
    const auto store = [&](int i, const Tensor& left, const Tensor& right) {
      if (!call.flag(kWanted + i)) return;
      const Tensor made = matrices(own, left.size(-2), right.size(-1), type);
      multiply(left, right, false, {}, made, recorder);
      copy(part.of(swapped(call, call.output(i))), made, recorder);
    };
    store(0, changes, part.of(k));
    store(1, transpose(changes, -2, -1), own);
    store(2, transpose(weights, -2, -1), part.of(d_out));
  });
  return true;
}

}  // namespace lunagrad::gpu
