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
  uint32_t heads, rows, width;
  uint32_t first_query, queries, keys;
  uint32_t first_head, inner, all_inner;
  AttentionScale scale;
};
static_assert(offsetof(AttentionChangeArguments, batch) == 144 &&
              offsetof(AttentionChangeArguments, scale) == 208);

constexpr int64_t kPartBytes = int64_t(96) << 20;  // bytes of a part's scores, in all their forms

// Adds dims until there are at least two before the matrices.
Tensor lifted(Tensor x) {
  while (x.ndim() < 4) x = unsqueeze(x, 0);
  return x;
}

// A block of a head's queries, and the keys that it sees.
struct QueryBlock {
  int64_t first, rows, width;

  Tensor queries_of(const Tensor& x) const { return narrow(x, -2, first, rows); }
  Tensor keys_of(const Tensor& x) const { return narrow(x, -2, 0, width); }
};

// Divides the queries of a head into blocks, whose scores take about kPartBytes at most. With a causal mask,
// earlier queries see fewer keys: smaller blocks leave most of the masked scores out.
struct QueryBlocks {
  int64_t queries, keys, size;
  bool causal;

  QueryBlocks(int64_t queries, int64_t keys, bool causal, int64_t bytes_of_score)
      : queries(queries), keys(keys), causal(causal) {
    constexpr int64_t kLeastRows = 256;
    size = std::min(queries, std::max(kLeastRows, kPartBytes / (keys * bytes_of_score)));
    if (causal) size = std::min(size, std::max(kLeastRows, queries / 4));
  }
  bool is_one_of_all_keys() const { return size == queries && (!causal || queries >= keys); }
  template <class F>
  void each(F&& f) const {
    for (int64_t first = 0; first < queries; first += size) {
      const int64_t rows = std::min(size, queries - first);
      f(QueryBlock{first, rows, causal ? std::min(first + rows, keys) : keys});
    }
  }
};

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
void set_part(Arguments& a, const Call& call, const Tensor& mask, const AttentionPart& part,
              const QueryBlock& block, const Tensor& q, const Tensor& k, Launch& launch) {
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
  a.rows = uint32_t(block.rows);
  a.width = uint32_t(block.width);
  a.first_query = uint32_t(block.first);
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
  constexpr int64_t kGroupRows = 4;
  const DType type = call.input(0).dtype();
  const int64_t bytes = 4 + int64_t(item_size(type));  // of a score in both forms
  if (type != DType::f32 && !has_units(type, recorder.physical)) return false;
  const NoGrad off;
  const Tensor q = lifted(call.input(0)), k = lifted(call.input(1)), v = lifted(call.input(2));
  const Tensor result = swapped(call, call.output()), &mask = call.in[kMask];
  const QueryBlocks blocks(q.size(-2), k.size(-2), call.flag(kCausal), bytes);
  each_part(q, blocks.size * blocks.keys * bytes, [&](const AttentionPart& part) {
    const Tensor own = part.of(q);
    blocks.each([&](const QueryBlock& block) {
      const Tensor products = matrices(own, block.rows, block.width, DType::f32),
                   weights = matrices(own, block.rows, block.width, type);
      multiply(block.queries_of(own), block.keys_of(part.of(k)), true, {}, products, recorder);
      {
        Launch launch(recorder);
        AttentionWeightArguments a{};
        set_part(a, call, mask, part, block, q, k, launch);
        a.products = launch.reads(products);
        a.weights = launch.writes(weights);
        a.lse = launch.writes(call.output(1));
        launch.run(AttentionWeights{.causal = blocks.causal,
                                    .mask = kind_of_mask(mask),
                                    .drops = call.args[kDropout].f > 0,
                                    .caps = call.real(kSoftcap) > 0,
                                    .type = uint32_t(type)},
                   {group_count(uint64_t(a.heads * a.rows + kGroupRows - 1) / kGroupRows, recorder)},
                   bytes_of(a));
      }
      const Tensor out = matrices(own, block.rows, v.size(-1), type);
      multiply(weights, block.keys_of(part.of(v)), false, {}, out, recorder);
      copy(block.queries_of(part.of(result)), out, recorder);
    });
  });
  return true;
}

bool attention_grad_by_products(const Call& call, Recorder& recorder) {
  const DType type = call.input(1).dtype();
  const int64_t bytes = 2 * (4 + int64_t(item_size(type)));  // of a score in all four forms
  if (type != DType::f32 && !has_units(type, recorder.physical)) return false;
  const NoGrad off;
  const Tensor q = lifted(call.input(1)), k = lifted(call.input(2)), v = lifted(call.input(3));
  const Tensor d_out = swapped(call, call.input(0)), &mask = call.in[1 + kMask];
  const auto upcast = [&](int i) { return to(swapped(call, call.input(i)), DType::f32); };
  Tensor delta = contiguous(sum(upcast(0) * upcast(5), {-1}));
  if (call.has(7)) delta = delta - reshape(call.input(7), delta.shape());
  const QueryBlocks blocks(q.size(-2), k.size(-2), call.flag(kCausal), bytes);
  each_part(q, blocks.size * blocks.keys * bytes, [&](const AttentionPart& part) {
    const Tensor own = part.of(q);
    const auto result = [&](int i) { return part.of(swapped(call, call.output(i))); };
    // The blocks add to the gradients of the keys and values that they see, in f32 and in order.
    Tensor sums[3];
    if (!blocks.is_one_of_all_keys())
      for (int i = 1; i < 3; ++i)
        if (call.flag(kWanted + i)) sums[i] = zeros(result(i).shape(), DType::f32, own.device());
    blocks.each([&](const QueryBlock& block) {
      const auto scores = [&](DType of) { return matrices(own, block.rows, block.width, of); };
      const Tensor products = scores(DType::f32), reaches = scores(DType::f32), weights = scores(type),
                   changes = scores(type);
      const Tensor keys = block.keys_of(part.of(k)), d_rows = block.queries_of(part.of(d_out));
      multiply(block.queries_of(own), keys, true, {}, products, recorder);
      multiply(d_rows, block.keys_of(part.of(v)), true, {}, reaches, recorder);
      {
        Launch launch(recorder);
        AttentionChangeArguments a{};
        set_part(a, call, mask, part, block, q, k, launch);
        a.products = launch.reads(products);
        a.reaches = launch.reads(reaches);
        a.weights = launch.writes(weights);
        a.changes = launch.writes(changes);
        a.lse = launch.reads(call.input(6));
        a.delta = launch.reads(delta);
        const uint64_t threads = uint64_t(a.heads) * a.rows * ((a.width + 3) / 4);
        launch.run(AttentionChanges{.causal = blocks.causal,
                                    .mask = kind_of_mask(mask),
                                    .drops = call.args[kDropout].f > 0,
                                    .caps = call.real(kSoftcap) > 0,
                                    .type = uint32_t(type)},
                   {group_count(threads / AttentionChanges::kThreads + 1, recorder)}, bytes_of(a));
      }
      const auto store = [&](int i, const Tensor& left, const Tensor& right) {
        if (!call.flag(kWanted + i)) return;
        const Tensor made =
            matrices(own, left.size(-2), right.size(-1), sums[i].defined() ? DType::f32 : type);
        multiply(left, right, false, {}, made, recorder);
        if (!sums[i].defined()) return copy(i == 0 ? block.queries_of(result(i)) : result(i), made, recorder);
        const Tensor sum = block.keys_of(sums[i]);
        copy(sum, sum + made, recorder);
      };
      store(0, changes, keys);
      store(1, transpose(changes, -2, -1), block.queries_of(own));
      store(2, transpose(weights, -2, -1), d_rows);
    });
    for (int i = 1; i < 3; ++i)
      if (sums[i].defined()) copy(result(i), to(sums[i], type), recorder);
  });
  return true;
}

}  // namespace lunagrad::gpu
