#include "gpu/ops/index/segments.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "gpu/ops/copy.h"
#include "gpu/ops/divisor.h"
#include "gpu/ops/index/radix.h"
#include "gpu/ops/words.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::PutLast;
using shaders::Segments;

struct KeyArguments {
  uint64_t index, fault, keys;
  uint32_t count, dims, dim, size, kind, nowhere, wraps;
  uint32_t extent[8], stride[8];
};

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

// The key of an index is its position in the target, or `nowhere` if it is out of range.
void write_keys(const IndexedPlaces& places, uint64_t nowhere, const Scratch& keys, Recorder& recorder) {
  const Shape& shape = places.index.shape();
  Launch launch(recorder);
  KeyArguments a{};
  a.index = launch.reads(places.index);
  a.keys = launch.writes(keys);
  a.fault = recorder.stream.fault_address();
  a.count = uint32_t(places.index.numel());
  a.dims = uint32_t(shape.size());
  a.dim = uint32_t(places.dim);
  a.size = uint32_t(places.choices);
  a.kind = uint32_t(places.fault);
  a.nowhere = uint32_t(nowhere);
  a.wraps = places.fault == FaultKind::index_fill;
  for (int d = 0; d < shape.size(); ++d) a.extent[d] = uint32_t(shape[d]);
  for (int d = 0; d < places.strides.size(); ++d) a.stride[d] = uint32_t(places.strides[d]);
  launch.run(shaders::IndexKeys{.index_type = uint32_t(places.index.dtype())},
             {groups_for(a.count, recorder)}, bytes_of(a));
}

struct PutPushConstants {
  uint64_t target, source, keys, owners;
  uint32_t count, size, step;
};
static_assert(sizeof(PutPushConstants) <= kPushConstantBytes);

// Layout as in put_rows.comp.
struct RowArguments {
  uint64_t result, x, source, owners;
  uint32_t count, size, picked, inner;
  Divisor by_inner, by_size;
};

// For each key the number of its last index, plus 1; 0 for a key without an index.
Tensor owners_of(const Scratch& keys, uint32_t count, int64_t size, Device& device, Recorder& recorder) {
  const Tensor owners = Tensor::empty({size}, DType::i32, device);
  copy(owners, Tensor::number(int64_t(0)), recorder);
  PutPushConstants push{};
  push.count = count;
  push.size = uint32_t(size);
  Launch launch(recorder);
  push.keys = launch.reads(keys);
  push.owners = launch.writes(owners);
  launch.run(PutLast{.mode = PutLast::kClaim}, {groups_for(count, recorder)}, {}, bytes_of(push));
  return owners;
}

}  // namespace

void put_by_index(const Tensor& target, const Tensor& source, const IndexedPlaces& places,
                  Recorder& recorder) {
  const int64_t count = places.index.numel();
  const Scratch keys(recorder, size_t(count) * sizeof(uint32_t));
  write_keys(places, uint64_t(target.numel()), keys, recorder);
  const Tensor owners = owners_of(keys, uint32_t(count), target.numel(), target.device(), recorder);
  Launch launch(recorder);
  PutPushConstants push{};
  push.count = uint32_t(count);
  push.size = uint32_t(target.numel());
  push.step = source.numel() == count ? 1 : 0;
  push.keys = launch.reads(keys);
  push.owners = launch.reads(owners);
  push.source = launch.reads(source);
  push.target = launch.writes(target);
  launch.run(PutLast{.mode = PutLast::kPut, .type = raw_type(target.dtype())},
             {groups_for(push.count, recorder)}, {}, bytes_of(push));
}

void put_rows(const Tensor& out, const Tensor& x, const Tensor& source, int dim, const IndexedPlaces& places,
              Recorder& recorder) {
  const uint32_t picked = uint32_t(places.index.numel());
  uint64_t inner = 1;
  for (int d = dim + 1; d < out.ndim(); ++d) inner *= uint64_t(out.size(d));
  const Scratch keys(recorder, size_t(picked) * sizeof(uint32_t));
  write_keys(places, uint64_t(places.choices), keys, recorder);
  const Tensor owners = owners_of(keys, picked, places.choices, out.device(), recorder);
  // A single element is repeated to fill 16 bytes, the size of the largest unit.
  const bool one = source.numel() == 1;
  const Tensor rows =
      one ? Tensor::empty({16 / int64_t(item_size(out.dtype()))}, out.dtype(), out.device()) : source;
  if (one) copy(rows, reshape(source, {}), recorder);
  Launch launch(recorder);
  RowArguments a{};
  a.result = launch.writes(out);
  a.x = launch.reads(x);
  a.source = launch.reads(rows);
  a.owners = launch.reads(owners);
  const Words words = words_of(out.dtype(), inner, a.result | a.x | a.source);
  a.count = uint32_t(uint64_t(out.numel()) / words.elements);
  a.size = uint32_t(places.choices);
  a.picked = picked;
  a.inner = uint32_t(inner / words.elements);
  a.by_inner = Divisor(a.inner);
  a.by_size = Divisor(a.size);
  const Visit visit = visit_elements(a.count, recorder);
  launch.run(shaders::PutRows{.type = words.type,
                              .sixteen_bytes = words.bytes == 16,
                              .per_thread = visit.per_thread,
                              .in_place = a.result == a.x,
                              .one = one},
             {visit.groups}, bytes_of(a));
}

void add_by_index(const Tensor& target, const Tensor& source, const IndexedSums& sums,
                  const IndexedPlaces& places, Recorder& recorder) {
  const uint32_t count = uint32_t(places.index.numel());
  SortedKeys sorted(count, uint32_t(std::bit_width(sums.size)), recorder);
  write_keys(places, sums.size, sorted.unsorted(), recorder);
  sorted.sort(recorder);

  const bool real = target.dtype() == DType::f32;
  const auto fours_of = [](const Tensor& x) { return uint64_t(x.offset()) % 4 == 0; };
  const bool fours = real && sums.inner % 4 == 0 && fours_of(target) && fours_of(source);
  const uint64_t columns = sums.outer * sums.inner / (fours ? 4 : 1);
  const uint32_t across = uint32_t(std::min<uint64_t>(kGroupSize, std::bit_ceil(columns)));
  SegmentArguments a{};
  a.outer = uint32_t(sums.outer);
  a.size = uint32_t(sums.size);
  a.inner = uint32_t(sums.inner / (fours ? 4 : 1));
  a.rows = count;
  a.alpha = float(sums.alpha);
  a.entries = count;
  // Output of the previous pass, and of this one.
  std::optional<Scratch> rows[2], keys[2];
  for (uint32_t pass = 0; a.entries > 0; ++pass) {
    std::optional<Scratch>&from_rows = rows[pass % 2], &from_keys = keys[pass % 2];
    std::optional<Scratch>&to_rows = rows[(pass + 1) % 2], &to_keys = keys[(pass + 1) % 2];
    a.each = entries_of_part(a.entries, columns, pass > 0);
    const uint32_t parts = (a.entries + a.each - 1) / a.each, left = parts > 1 ? 2 * parts : 0;
    Launch launch(recorder);
    a.target = launch.writes(target);
    a.source = pass == 0 ? launch.reads(source) : launch.reads(*from_rows);
    a.keys = launch.reads(pass == 0 ? sorted.keys() : *from_keys);
    a.order = pass == 0 ? launch.reads(sorted.order()) : 0;
    if (left > 0) {
      to_rows.emplace(recorder, size_t(left) * sums.outer * sums.inner * (real ? 4 : 8));
      to_keys.emplace(recorder, size_t(left) * sizeof(uint32_t));
      a.left = launch.writes(*to_rows);
      a.left_keys = launch.writes(*to_keys);
    }
    const uint64_t together = kGroupSize / across;
    launch.run(
        Segments{.type = uint32_t(target.dtype()), .fours = fours, .partial = pass > 0, .across = across},
        {group_count((parts + together - 1) / together * ((columns + across - 1) / across), recorder)},
        bytes_of(a));
    a.entries = left;
  }
}

}  // namespace lunagrad::gpu
