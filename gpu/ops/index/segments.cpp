#include "gpu/ops/index/segments.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "gpu/ops/index/sorted_indices.h"

namespace lunagrad::gpu {
namespace {

using shaders::Segments;

struct SegmentArguments {
  uint64_t target, source, keys, order, left, left_keys;
  uint32_t entries, each, outer, size, inner, rows;
  float alpha;
};

// Entries per part, for about 2^18 invocations. Later passes have less work and take at least 16, so that
// there are fewer passes.
uint32_t entries_of_part(uint64_t entries, uint64_t columns, bool partial) {
  constexpr uint64_t kThreads = 1 << 18, kMost = 64;
  const uint64_t fewest = partial ? 16 : 8;
  return uint32_t(std::clamp(std::bit_ceil(entries * columns / kThreads), fewest, kMost));
}

}  // namespace

void reduce_by_index(Reduction reduction, const Tensor& target, const Tensor& source, const IndexedRows& rows,
                     double alpha, Recorder& recorder) {
  const auto sorted = recorder.sorted_indices.sorted(rows, recorder);
  const bool real = target.dtype() == DType::f32;
  const auto fours_of = [](const Tensor& x) { return uint64_t(x.offset()) % 4 == 0; };
  const bool fours = real && rows.inner % 4 == 0 && fours_of(target) && fours_of(source);
  const uint64_t columns = rows.outer * rows.inner / (fours ? 4 : 1);
  const uint32_t across = uint32_t(std::min<uint64_t>(kGroupSize, std::bit_ceil(columns)));
  SegmentArguments a{};
  a.outer = uint32_t(rows.outer);
  a.size = uint32_t(rows.size);
  a.inner = uint32_t(rows.inner / (fours ? 4 : 1));
  a.rows = uint32_t(rows.count());
  a.alpha = float(alpha);
  a.entries = a.rows;
  // Output of the previous pass, and of this one.
  std::optional<Scratch> results[2], keys[2];
  for (uint32_t pass = 0; a.entries > 0; ++pass) {
    std::optional<Scratch>&from_results = results[pass % 2], &from_keys = keys[pass % 2];
    std::optional<Scratch>&to_results = results[(pass + 1) % 2], &to_keys = keys[(pass + 1) % 2];
    a.each = entries_of_part(a.entries, columns, pass > 0);
    const uint32_t parts = (a.entries + a.each - 1) / a.each, left = parts > 1 ? 2 * parts : 0;
    Launch launch(recorder);
    a.target = launch.writes(target);
    a.source = pass == 0 ? launch.reads(source) : launch.reads(*from_results);
    a.keys = launch.reads(pass == 0 ? sorted->keys() : *from_keys);
    a.order = pass == 0 ? launch.reads(sorted->order()) : 0;
    if (left > 0) {
      to_results.emplace(recorder, size_t(left) * rows.outer * rows.inner * (real ? 4 : 8));
      to_keys.emplace(recorder, size_t(left) * sizeof(uint32_t));
      a.left = launch.writes(*to_results);
      a.left_keys = launch.writes(*to_keys);
    }
    const uint64_t together = kGroupSize / across;
    launch.run(Segments{.type = uint32_t(target.dtype()),
                        .fours = fours,
                        .partial = pass > 0,
                        .across = across,
                        .reduction = uint32_t(reduction)},
               {group_count((parts + together - 1) / together * ((columns + across - 1) / across), recorder)},
               bytes_of(a));
    a.entries = left;
  }
}

}  // namespace lunagrad::gpu
