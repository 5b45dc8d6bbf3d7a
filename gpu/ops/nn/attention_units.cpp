#include "gpu/ops/nn/attention_units.h"

#include <algorithm>

#include "gpu/ops/nn/attention_operands.h"
#include "gpu/ops/products/product.h"
#include "gpu/ops/variant.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::AttentionDelta, shaders::AttentionUnits, shaders::AttentionUnitsGrad, shaders::FragmentPairs;

constexpr int64_t kSide = MatrixUnits::kSide, kMostFeatures = 128;

// Whether pairs of a fragment's components are adjacent columns, as the kernels need. The first call waits
// for a kernel that finds out.
bool has_pairs(Recorder& recorder) {
  if (!recorder.fragment_pairs) {
    const uint32_t subgroup = recorder.physical.subgroup_size;
    const Scratch found(recorder, sizeof(uint32_t));
    {
      Launch launch(recorder);
      const uint64_t result = launch.writes(found);
      launch.run(FragmentPairs{.local_size_x = subgroup,
                               .components = uint32_t(kSide * kSide) / subgroup,
                               .m = kSide,
                               .n = kSide},
                 {1}, bytes_of(result));
    }
    uint32_t pairs = 0;
    recorder.stream.copy_out(&pairs, *found.range(), 0, sizeof(pairs));
    recorder.fragment_pairs = pairs != 0;
  }
  return *recorder.fragment_pairs;
}

// The numbers of own and passing rows of a workgroup, and the heads' features with padding.
struct UnitTiles {
  uint32_t own, passing, features;
};

// Returns no own rows if the units do not take the operands. They do not take added masks: where a mask adds
// -1e9 to a whole row, the log-sum-exp loses the differences between the scores. Only kernels that subtract a
// row's largest score themselves take them.
UnitTiles tiles_for(const Tensor& q, const Tensor& v, const Tensor& mask, Recorder& recorder) {
  const PhysicalDevice& physical = recorder.physical;
  if (mask.defined() && mask.dtype() != DType::boolean) return {};
  const auto fits = [](int64_t features) { return features % 8 == 0 && features <= kMostFeatures; };
  Product p;
  p.m = p.n = p.k = kSide;
  p.type = q.dtype();
  const uint32_t subgroup = physical.subgroup_size;
  if (unit_type_of(p, physical) == DType::f32 || !fits(q.size(-1)) || !fits(v.size(-1)) ||
      (subgroup != 32 && subgroup != 64) || !has_pairs(recorder))
    return {};
  const uint32_t features = uint32_t((std::max(q.size(-1), v.size(-1)) + kSide - 1) / kSide * kSide);
  // Shared memory of the keys' gradient, which needs most. Sizes as in attention_units_grad.comp.
  const auto bytes = [&](const UnitTiles& tiles) {
    return (2 * tiles.passing * (features / 8 + 1) + tiles.own / 16 * tiles.passing * 5 + 32) * 16;
  };
  UnitTiles tiles{AttentionUnits::kThreads / subgroup * uint32_t(kSide), 64, features};
  if (bytes(tiles) > physical.limits.maxComputeSharedMemorySize) tiles.passing = 32;
  return bytes(tiles) > physical.limits.maxComputeSharedMemorySize ? UnitTiles{} : tiles;
}

// Returns x itself if eight features at a time can be loaded from it, else a contiguous copy.
Tensor in_eights(const Tensor& x) {
  const auto aligned = [](int64_t step) { return step % 8 == 0; };
  if (x.strides().back() == 1 && aligned(x.offset()) &&
      std::all_of(x.strides().begin(), x.strides().end() - 1, aligned))
    return x;
  return clone(x);
}

Tensor laid_out(const Call& call, const Tensor& x) {
  return call.flag(kInnerHeads) ? transpose(x, -3, -2) : x;
}

// Whether scores can start from the mask (0 or -infinity). This needs a scale above 0, which keeps -infinity.
bool is_staged(const Call& call, const Tensor& mask) {
  return mask.defined() && !(call.real(kSoftcap) > 0) && call.real(kScale) > 0;
}
bool lies_in_fours(const AttentionMask& mask, const Tensor& of) {
  const auto aligned = [](int64_t step) { return step % 4 == 0; };
  return of.defined() && mask.key == 1 && aligned(mask.query) &&
         std::all_of(std::begin(mask.batch), std::end(mask.batch), aligned) &&
         mask.at % (4 * item_size(of.dtype())) == 0;
}

struct DeltaArguments {
  AttentionRows d_out, result;
  uint64_t d_lse, delta;
  AttentionBatch batch;
  uint32_t rows, queries, features;
};
static_assert(offsetof(DeltaArguments, rows) == 172);

// dout out - dlse for each query, f32 [heads, queries].
Tensor delta_of(const Tensor& d_out, const Tensor& out, const Tensor& d_lse, Recorder& recorder) {
  const Tensor delta = Tensor::empty({heads_of(out), out.size(-2)}, DType::f32, out.device());
  const Tensor grad = d_lse.defined() ? contiguous(d_lse) : d_lse;
  Launch launch(recorder);
  DeltaArguments a{};
  a.d_out = attention_rows(d_out, launch.reads(d_out));
  a.result = attention_rows(out, launch.reads(out));
  if (grad.defined()) a.d_lse = launch.reads(grad);
  a.delta = launch.writes(delta);
  a.batch = attention_batch(out);
  a.rows = uint32_t(delta.numel());
  a.queries = uint32_t(out.size(-2));
  a.features = uint32_t(out.size(-1));
  constexpr uint32_t kEach = AttentionDelta::kThreads / AttentionDelta::kSharing;
  launch.run(AttentionDelta{.type = uint32_t(out.dtype())},
             {group_count((a.rows + kEach - 1) / kEach, recorder)}, bytes_of(a));
  return delta;
}

template <class C>
void launch_items(Launch& launch, const C& constants, DType type, double products, uint32_t items,
                  Bytes arguments, const Recorder& recorder) {
  static const ShaderCode half_code = find_shader(C::kShader);
  static const ShaderCode bfloat_code = with_variant(half_code, half_code.variant, true);
  launch.multiplies(products * recorder.rates.f32 / recorder.rates.matrix_units);
  launch.run_in_turns(type == DType::f16 ? half_code : bfloat_code, constants.values(), items, arguments);
}

}  // namespace

bool attention_on_units(const Call& call, Recorder& recorder) {
  const UnitTiles tiles = tiles_for(call.input(0), call.input(2), call.in[kMask], recorder);
  if (!tiles.own) return false;
  const NoGrad off;
  const Tensor q = in_eights(call.input(0)), k = in_eights(call.input(1)), v = in_eights(call.input(2));
  const Tensor result = laid_out(call, call.output()), &mask = call.in[kMask];
  Launch launch(recorder);
  AttentionArguments a{};
  a.q = attention_rows(q, launch.reads(q));
  a.k = attention_rows(k, launch.reads(k));
  a.v = attention_rows(v, launch.reads(v));
  a.result = attention_rows(result, launch.writes(result));
  a.lse = launch.writes(call.output(1));
  set_attention(a, call, 0, launch);
  a.blocks = (a.queries + tiles.own - 1) / tiles.own;
  launch_items(launch,
               AttentionUnits{.r = tiles.own,
                              .s = tiles.passing,
                              .d = tiles.features,
                              .causal = call.flag(kCausal),
                              .mask = kind_of_mask(mask),
                              .drops = call.args[kDropout].f > 0,
                              .caps = call.real(kSoftcap) > 0,
                              .type = uint32_t(q.dtype()),
                              .staged = is_staged(call, mask),
                              .mask_in_fours = lies_in_fours(a.mask, mask),
                              .m = kSide,
                              .n = kSide,
                              .k = kSide},
               q.dtype(), scores_of(q, k) * double(q.size(-1) + v.size(-1)), a.blocks * uint32_t(heads_of(q)),
               bytes_of(a), recorder);
  return true;
}

bool attention_grad_on_units(const Call& call, Recorder& recorder) {
  const UnitTiles tiles = tiles_for(call.input(1), call.input(3), call.in[1 + kMask], recorder);
  if (!tiles.own) return false;
  const NoGrad off;
  const Tensor q = in_eights(call.input(1)), k = in_eights(call.input(2)), v = in_eights(call.input(3)),
               d_out = in_eights(laid_out(call, call.input(0))), &mask = call.in[1 + kMask];
  const Tensor delta = delta_of(d_out, in_eights(laid_out(call, call.input(5))),
                                call.has(7) ? call.input(7) : Tensor(), recorder);
  const auto launch_rows = [&](bool of_keys, const Tensor& first, const Tensor& second) {
    const Tensor own[2] = {of_keys ? k : q, of_keys ? v : d_out},
                 passing[2] = {of_keys ? q : k, of_keys ? d_out : v};
    Launch launch(recorder);
    AttentionGradArguments a{};
    for (int i = 0; i < 2; ++i) {
      a.own[i] = attention_rows(own[i], launch.reads(own[i]));
      a.passing[i] = attention_rows(passing[i], launch.reads(passing[i]));
      const Tensor& result = i ? second : first;
      if (!result.defined()) continue;
      const Tensor rows = laid_out(call, result);
      a.result[i] = attention_rows(rows, launch.writes(rows));
    }
    a.lse = launch.reads(call.input(6));
    a.delta = launch.reads(delta);
    set_attention(a, call, 1, launch);
    a.own_rows = uint32_t(own[0].size(-2));
    a.passing_rows = uint32_t(passing[0].size(-2));
    a.blocks = (a.own_rows + tiles.own - 1) / tiles.own;
    a.items = a.blocks * a.heads;
    const int products = first.defined() + second.defined() + 1;
    launch_items(
        launch,
        AttentionUnitsGrad{.r = tiles.own,
                           .s = tiles.passing,
                           .d = tiles.features,
                           .causal = call.flag(kCausal),
                           .of = of_keys ? AttentionUnitsGrad::kOfKeys : AttentionUnitsGrad::kOfQueries,
                           .mask = kind_of_mask(mask),
                           .drops = call.args[kDropout].f > 0,
                           .caps = call.real(kSoftcap) > 0,
                           .type = uint32_t(q.dtype()),
                           .first = first.defined(),
                           .second = second.defined(),
                           .staged = is_staged(call, mask),
                           .mask_in_fours = lies_in_fours(a.mask, mask),
                           .m = kSide,
                           .n = kSide,
                           .k = kSide},
        q.dtype(), scores_of(q, k) * double(q.size(-1) + v.size(-1)) * products, a.items, bytes_of(a),
        recorder);
  };
  const auto wanted = [&](int i) { return call.flag(kWanted + i) ? call.output(i) : Tensor(); };
  const Tensor dq = wanted(0), dk = wanted(1), dv = wanted(2);
  if (dq.defined()) launch_rows(false, dq, {});
  // With more features than this, both sums need more registers than an invocation has.
  constexpr uint32_t kBoth = 96;
  if (tiles.features <= kBoth || !dk.defined() || !dv.defined()) {
    if (dk.defined() || dv.defined()) launch_rows(true, dk, dv);
  } else {
    launch_rows(true, dk, {});
    launch_rows(true, {}, dv);
  }
  return true;
}

}  // namespace lunagrad::gpu
