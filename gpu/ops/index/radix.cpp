#include "gpu/ops/index/radix.h"

#include <algorithm>
#include <bit>

namespace lunagrad::gpu {
namespace {

using shaders::Radix;

constexpr uint32_t kBits = 8, kDigits = 1 << kBits;  // per pass

struct RadixArguments {
  uint64_t values, places, operand;
  uint64_t keys, halves, order;
  uint64_t new_keys, new_halves, new_order;
  uint64_t counts, totals;
  uint32_t shift, chunks, each, kept, along, flipped;
  Rows rows;
};
static_assert(offsetof(RadixArguments, rows) == 112);

// Elements with their positions; null where a pass does not need them. `upper`: the upper halves of 64-bit
// elements.
struct Elements {
  const Scratch *keys = nullptr, *upper = nullptr, *order = nullptr;
};
struct Pass {
  Elements from, to;
  const SortedRows* ends = nullptr;  // the operand and the results
  bool from_operand = false, to_results = false;
};

// Digit counts, in memory that all passes reuse.
struct Counts {
  Counts(const RadixArguments& a, Recorder& recorder)
      : counts(recorder, size_t(a.rows.count) * kDigits * a.chunks * sizeof(uint32_t)),
        totals(recorder, size_t(a.rows.count) * kDigits * sizeof(uint32_t)) {}
  Scratch counts, totals;
};

// The size if subgroups find equal digits and add up.
uint32_t subgroup_of(const PhysicalDevice& device) {
  const uint32_t size = device.subgroup_size;
  return device.subgroup_sums && (size == 16 || size == 32 || size == 64) ? size : 0;
}

void run_pass(const Pass& pass, Radix form, RadixArguments arguments, const Counts& counts,
              Recorder& recorder) {
  form.subgroup = subgroup_of(recorder.physical);
  form.operand = pass.from_operand;
  form.numbered = !pass.from.order;
  form.results = pass.to_results;
  const uint32_t groups = group_count(uint64_t(arguments.rows.count) * arguments.chunks, recorder);
  const bool upper = form.in_64_bits && arguments.shift >= 32;  // the half with the digit
  const auto read_keys = [&](Launch& launch) {
    if (pass.from_operand)
      arguments.operand = launch.reads(pass.ends->x);
    else
      arguments.keys = launch.reads(upper ? *pass.from.upper : *pass.from.keys);
  };
  // One tile finds the positions of its digits itself.
  const bool alone = arguments.chunks == 1 && arguments.each == 1;
  if (!alone) {
    {
      Launch launch(recorder);
      read_keys(launch);
      arguments.counts = launch.writes(counts.counts);
      form.mode = Radix::kCount;
      launch.run(form, {groups}, bytes_of(arguments));
    }
    Launch launch(recorder);
    arguments.counts = launch.writes(counts.counts);
    arguments.totals = launch.writes(counts.totals);
    arguments.along = std::min(kGroupSize, std::bit_ceil(arguments.chunks));
    const uint64_t lines = uint64_t(arguments.rows.count) * kDigits;
    launch.run(Radix{.mode = Radix::kAddUp, .subgroup = form.subgroup},
               {group_count((lines * arguments.along + kGroupSize - 1) / kGroupSize, recorder)},
               bytes_of(arguments));
  }
  Launch launch(recorder);
  read_keys(launch);
  if (form.in_64_bits && !pass.from_operand)
    arguments.halves = launch.reads(upper ? *pass.from.keys : *pass.from.upper);
  if (pass.from.order) arguments.order = launch.reads(*pass.from.order);
  if (!alone) {
    arguments.counts = launch.reads(counts.counts);
    arguments.totals = launch.reads(counts.totals);
  }
  if (pass.to_results) {
    arguments.values = launch.writes(pass.ends->values);
    if (form.indices) arguments.places = launch.writes(*pass.ends->places);
  } else {
    arguments.new_keys = launch.writes(upper ? *pass.to.upper : *pass.to.keys);
    if (form.in_64_bits) arguments.new_halves = launch.writes(upper ? *pass.to.keys : *pass.to.upper);
    if (form.indices) arguments.new_order = launch.writes(*pass.to.order);
  }
  form.mode = Radix::kMove;
  launch.run(form, {groups}, bytes_of(arguments));
}

constexpr uint32_t kMostEach = 16;  // elements of an invocation in a tile
uint64_t tiles_of(uint64_t length, uint32_t each) {
  const uint64_t tile = kGroupSize * each;
  return (length + tile - 1) / tile;
}

// Cuts rows into tiles, of a size that the last one nearly has, too, and these into chunks: enough to keep
// the device busy, and so few that their counts take little memory. Returns the elements of an invocation in
// a tile.
uint32_t cut_rows(RadixArguments& a) {
  constexpr uint64_t kMostChunks = 2048;
  constexpr uint32_t kFewestEach = 12;
  const uint64_t most_tiles = tiles_of(a.rows.extent, kMostEach),
                 share = (a.rows.extent + most_tiles - 1) / most_tiles;
  const uint32_t each = share <= kFewestEach * kGroupSize ? kFewestEach : kMostEach;
  const uint64_t tiles = tiles_of(a.rows.extent, each),
                 most = std::max<uint64_t>(1, kMostChunks / std::max(1u, a.rows.count));
  a.each = uint32_t((tiles + most - 1) / most);
  a.chunks = uint32_t((tiles + a.each - 1) / a.each);
  return each;
}

}  // namespace

bool can_sort_rows(const Tensor& x, int64_t length) {
  const uint64_t rows = uint64_t(x.numel() / length);
  return indexable(x) && rows * kDigits * tiles_of(uint64_t(length), kMostEach) < uint64_t(most_elements());
}

void sort_rows(const SortedRows& sorted, Recorder& recorder) {
  const DType type = sorted.x.dtype();
  const uint32_t item = uint32_t(item_size(type)), passes = type == DType::boolean ? 1 : 8 * item / kBits;
  const bool in_64_bits = item == 8;
  RadixArguments arguments{};
  arguments.rows = sorted.rows;
  arguments.kept = sorted.kept;
  const uint32_t each = cut_rows(arguments);
  const Counts counts(arguments, recorder);
  const size_t bytes = size_t(sorted.rows.count) * sorted.rows.extent * sizeof(uint32_t);
  // The inner passes move elements between these two buffers.
  std::optional<Scratch> memory[2][3];
  Elements elements[2];
  for (uint32_t k = 0; k < std::min(passes - 1, 2u); ++k) {
    elements[k].keys = &memory[k][0].emplace(recorder, bytes);
    if (in_64_bits) elements[k].upper = &memory[k][1].emplace(recorder, bytes);
    if (sorted.places) elements[k].order = &memory[k][2].emplace(recorder, bytes);
  }
  arguments.flipped = sorted.descending ? 0xffffffff : 0;
  for (uint32_t p = 0; p < passes; ++p) {
    arguments.shift = p * kBits;
    const bool first = p == 0, last = p + 1 == passes;
    const Radix form{.raw_type = first || last ? raw_type(type) : ElementType::kI32,
                     .in_64_bits = in_64_bits,
                     .type = in_64_bits ? ElementType::kAbsent : uint32_t(type),
                     .indices = sorted.places != nullptr,
                     .each = each};
    run_pass({first ? Elements{.order = sorted.order} : elements[(p + 1) % 2],
              last ? Elements{} : elements[p % 2], &sorted, first, last},
             form, arguments, counts, recorder);
  }
}

SortedKeys::SortedKeys(uint32_t count, uint32_t bits, Recorder& recorder)
    : count_(count), passes_((bits + kBits - 1) / kBits) {
  keys_[0].emplace(recorder, count * sizeof(uint32_t));
  if (passes_ > 0)
    for (auto* const memory : {&keys_[1], &order_[0], &order_[1]})
      memory->emplace(recorder, count * sizeof(uint32_t));
}

void SortedKeys::sort(Recorder& recorder) {
  if (passes_ == 0) return;
  RadixArguments arguments{};
  arguments.rows.count = 1;
  arguments.rows.extent = count_;
  const uint32_t each = cut_rows(arguments);
  const Counts counts(arguments, recorder);
  const Radix form{.raw_type = ElementType::kI32, .each = each};
  for (uint32_t p = 0; p < passes_; ++p) {
    arguments.shift = p * kBits;
    Pass pass;
    pass.from = {&*keys_[p % 2], nullptr, p == 0 ? nullptr : &*order_[p % 2]};
    pass.to = {&*keys_[(p + 1) % 2], nullptr, &*order_[(p + 1) % 2]};
    run_pass(pass, form, arguments, counts, recorder);
  }
  keys_[(passes_ + 1) % 2].reset();
  order_[(passes_ + 1) % 2].reset();
}

}  // namespace lunagrad::gpu
