#include "gpu/kernels/select.h"

#include <algorithm>

#include "gpu/kernels/copy.h"

namespace lunagrad::gpu {
namespace {

using shaders::Select;

struct Arguments {
  uint64_t operand, chosen, places, digits, states, counts, before;
  uint32_t wanted, pass, passes, tiles, slabs, type, flipped;
  uint32_t padding;
  Rows rows;
};
static_assert(offsetof(Arguments, rows) == 88);

}  // namespace

void select_first(const Selection& selection, const Tensor& chosen, const Scratch& places,
                  Recorder& recorder) {
  constexpr uint64_t kTile = kGroupSize * Select::kEach, kLongestSlab = uint64_t(kGroupSize) << 15;
  const Tensor& x = selection.x;
  Arguments a{};
  a.rows = selection.rows;
  a.wanted = selection.wanted;
  a.passes = x.dtype() == DType::boolean ? 1 : uint32_t(item_size(x.dtype()));
  a.type = uint32_t(x.dtype());
  a.flipped = selection.descending ? 0xffffffff : 0;
  const uint64_t rows = a.rows.count, extent = a.rows.extent, tiles = (extent + kTile - 1) / kTile;
  a.tiles = uint32_t(tiles);
  const uint64_t fewest = (extent + kLongestSlab - 1) / kLongestSlab;
  a.slabs = uint32_t(std::clamp<uint64_t>(recorder.rates.busy_groups(8) / rows, fewest, tiles));
  const Tensor digits = Tensor::empty({int64_t(rows * a.passes * 256)}, DType::i32, x.device());
  copy(digits, Tensor::number(int64_t(0)), recorder);
  const Scratch states(recorder, rows * (a.passes + 1) * 16), counts(recorder, rows * tiles * 8),
      before(recorder, rows * tiles * 8);
  const auto run = [&](Launch& launch, uint32_t mode, uint64_t groups) {
    launch.run(Select{.mode = mode, .raw_type = raw_type(x.dtype())}, {group_count(groups, recorder)},
               bytes_of(a));
  };
  for (a.pass = 0; a.pass < a.passes; ++a.pass) {
    Launch launch(recorder);
    a.operand = launch.reads(x);
    a.digits = launch.writes(digits);
    a.states = launch.writes(states);
    run(launch, Select::kDigits, rows * a.slabs);
  }
  {
    Launch launch(recorder);
    a.operand = launch.reads(x);
    a.digits = launch.reads(digits);
    a.states = launch.writes(states);
    a.counts = launch.writes(counts);
    run(launch, Select::kCount, rows * tiles);
  }
  {
    Launch launch(recorder);
    a.counts = launch.reads(counts);
    a.before = launch.writes(before);
    run(launch, Select::kAddUp, rows);
  }
  Launch launch(recorder);
  a.operand = launch.reads(x);
  a.states = launch.reads(states);
  a.counts = launch.reads(counts);
  a.before = launch.reads(before);
  a.chosen = launch.writes(chosen);
  a.places = launch.writes(places);
  run(launch, Select::kPut, rows * tiles);
}

}  // namespace lunagrad::gpu
