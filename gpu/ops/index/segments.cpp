#include "gpu/ops/index/segments.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "gpu/ops/index/sorted_indices.h"

namespace lunagrad::gpu {
namespace {

using shaders::Segments;

// Layout as in segments.comp.
struct SegmentArguments {
  uint64_t target, source, keys, order, left, left_keys;
  uint64_t counts, left_counts, small, left_small, numbers;
  uint32_t entries, each, outer, size, inner, rows;
  float alpha;
  uint32_t self;
};
static_assert(offsetof(SegmentArguments, entries) == 88);

// Entries per part, for about 2^18 invocations. Parts that one workgroup can take leave no further pass.
uint32_t entries_of_part(uint64_t entries, uint64_t columns, uint64_t together) {
  constexpr uint64_t kThreads = 1 << 18, kFewest = 8, kMost = 64, kMostAtOnce = 32;
  if (const uint64_t each = std::bit_ceil((entries + together - 1) / together); each <= kMostAtOnce)
    return uint32_t(std::max(each, kFewest));
  return uint32_t(std::clamp(std::bit_ceil(entries * columns / kThreads), kFewest, kMost));
}

// What a pass leaves to the next one.
struct Left {
  Left(Recorder& recorder, uint32_t entries, size_t bytes, bool mean)
      : results(recorder, entries * bytes), keys(recorder, entries * sizeof(uint32_t)) {
    if (!mean) return;
    small.emplace(recorder, entries * bytes);
    counts.emplace(recorder, entries * sizeof(uint32_t));
  }
  Scratch results, keys;
  std::optional<Scratch> small, counts;
};

// `numbers`: of a mean, else null.
void reduce(Segments form, SegmentArguments a, const Tensor& target, const Tensor* numbers,
            const Tensor& source, const IndexedRows& rows, Recorder& recorder) {
  const auto sorted = recorder.sorted_indices.sorted(rows, recorder);
  const bool real = target.dtype() == DType::f32;
  const auto fours_of = [](const Tensor& x) { return uint64_t(x.offset()) % 4 == 0; };
  const bool fours = real && rows.inner % 4 == 0 && fours_of(target) && fours_of(source);
  const uint64_t columns = rows.outer * rows.inner / (fours ? 4 : 1);
  constexpr uint64_t kMostAcross = 32;  // more parts of a workgroup leave fewer passes
  const uint32_t across = uint32_t(std::min(kMostAcross, std::bit_ceil(columns))),
                 together = kGroupSize / across;
  form.type = uint32_t(target.dtype());
  form.fours = fours;
  form.across = across;
  form.mean = numbers != nullptr;
  a.outer = uint32_t(rows.outer);
  a.size = uint32_t(rows.size);
  a.inner = uint32_t(rows.inner / (fours ? 4 : 1));
  a.rows = uint32_t(rows.count());
  a.entries = a.rows;
  std::optional<Left> left[2];  // of the previous pass, and of this one
  for (uint32_t pass = 0; a.entries > 0; ++pass) {
    std::optional<Left>&from = left[pass % 2], &to = left[(pass + 1) % 2];
    a.each = entries_of_part(a.entries, columns, together);
    const uint32_t parts = (a.entries + a.each - 1) / a.each, groups = (parts + together - 1) / together,
                   entries = groups > 1 ? 2 * groups : 0;
    Launch launch(recorder);
    a.target = launch.writes(target);
    if (numbers) a.numbers = launch.writes(*numbers);
    form.partial = pass > 0;
    form.ordered = form.partial || sorted->in_order();
    if (form.partial) {
      a.source = launch.reads(from->results);
      a.keys = launch.reads(from->keys);
      if (numbers) {
        a.small = launch.reads(*from->small);
        a.counts = launch.reads(*from->counts);
      }
    } else {
      a.source = launch.reads(source);
      a.keys = launch.reads(sorted->keys());
      if (!form.ordered) a.order = launch.reads(sorted->order());
    }
    if (entries > 0) {
      to.emplace(recorder, entries, size_t(rows.outer * rows.inner * (real ? 4 : 8)), numbers != nullptr);
      a.left = launch.writes(to->results);
      a.left_keys = launch.writes(to->keys);
      if (numbers) {
        a.left_small = launch.writes(*to->small);
        a.left_counts = launch.writes(*to->counts);
      }
    }
    launch.run(form, {group_count(groups * ((columns + across - 1) / across), recorder)}, bytes_of(a));
    a.entries = entries;
  }
}

}  // namespace

void reduce_by_index(Reduction reduction, const Tensor& target, const Tensor& source, const IndexedRows& rows,
                     double alpha, Recorder& recorder) {
  reduce({.reduction = uint32_t(reduction)}, {.alpha = float(alpha)}, target, nullptr, source, rows,
         recorder);
}

void mean_by_index(const Tensor& target, const Tensor& numbers, const Tensor& source, const IndexedRows& rows,
                   bool include_self, Recorder& recorder) {
  reduce({.reduction = Segments::kAdd}, {.self = include_self}, target, &numbers, source, rows, recorder);
}

}  // namespace lunagrad::gpu
