#pragma once
// Scans along a dim, for example running sums, for the shaders that include scan_rows.glsl.
#include <algorithm>
#include <cstdlib>

#include "gpu/ops/kernels.h"
#include "gpu/ops/rows.h"

namespace lunagrad::gpu {

struct ScanArguments {
  uint64_t result, operand, places, kept;  // places: or the second operand
  uint32_t pieces, reverse, exclusive, padding;
  Rows rows;
};
static_assert(offsetof(ScanArguments, rows) == 48);

struct Scan {
  const Tensor &result, &operand;
  const Tensor* places;  // null: there are none
  int dim;
  size_t item;  // bytes of a partial result in global memory
  bool reverse = false, exclusive = false;
  const Tensor* other = nullptr;  // a second operand, instead of places
  bool other_in_fours = true;     // whether `other` must also allow access to floats in fours
};

// `form` has the operation's constants; this function sets how the scan is divided among invocations.
template <class Form>
void run_scan(Form form, const Scan& scan, Recorder& recorder) {
  ScanArguments arguments{};
  const Tensor* const tensors[] = {&scan.result, &scan.operand,
                                   scan.places  ? scan.places
                                   : scan.other ? scan.other
                                                : &scan.result};
  Rows& rows = arguments.rows = rows_along(scan.dim, tensors);
  const uint64_t count = rows.count, extent = rows.extent;
  arguments.pieces = 1;
  arguments.reverse = scan.reverse;
  arguments.exclusive = scan.exclusive;
  const auto launch = [&](uint32_t stage, uint64_t groups, const Scratch* kept) {
    Launch launch(recorder);
    arguments.operand = launch.reads(scan.operand);
    if (scan.other) arguments.places = launch.reads(*scan.other);
    if (stage != Form::kSums && stage != Form::kSideSums) {
      arguments.result = launch.writes(scan.result);
      if (scan.places) arguments.places = launch.writes(*scan.places);
    }
    if (kept) arguments.kept = launch.writes(*kept);
    form.stage = stage;
    launch.run(form, {group_count(groups, recorder)}, bytes_of(arguments));
  };
  const auto groups_of = [](uint64_t threads) { return (threads + kGroupSize - 1) / kGroupSize; };

  constexpr uint64_t kShort = 2 * kGroupSize, kFewBeside = 32, kThreads = 1 << 17, kShortestPiece = 32;
  const uint32_t last = rows.dims - 1;
  const int64_t beside = rows.stride[1][last];  // 2 for the parts of complex numbers
  const bool side_by_side = rows.size[last] >= kFewBeside && beside >= 1 && beside <= 2 &&
                            std::abs(rows.step[1]) > beside && extent > 1;
  if (side_by_side) {
    const uint64_t most = std::max<uint64_t>(1, extent / kShortestPiece);
    arguments.pieces = uint32_t(std::clamp<uint64_t>(kThreads / count, 1, most));
    if (arguments.pieces == 1) return launch(Form::kSide, groups_of(count), nullptr);
    const Scratch kept(recorder, count * arguments.pieces * scan.item);
    launch(Form::kSideSums, groups_of(count * arguments.pieces), &kept);
    launch(Form::kSideBefore, groups_of(count), &kept);
    return launch(Form::kSide, groups_of(count * arguments.pieces), &kept);
  }
  if (extent <= kShort) {
    form.along = threads_along(rows.extent);
    return launch(Form::kParts, groups_of(count * form.along), nullptr);
  }
  const bool in_fours =
      scan.places ? item_size(scan.operand.dtype()) == 4 && lie_in_fours(rows, tensors)
                  : can_move_in_fours(rows, std::span(tensors, scan.other && scan.other_in_fours ? 3 : 2));
  form.fours = in_fours;
  form.subgroup = whole_subgroups(recorder.physical);
  constexpr uint64_t kRun = 4 * kGroupSize;
  form.runs = uint32_t(std::min<uint64_t>(Form::kRuns, (extent + kRun - 1) / kRun));
  const uint64_t tile = kRun * form.runs, tiles = (extent + tile - 1) / tile;
  if (tiles == 1 || count >= recorder.rates.busy_groups(2)) return launch(Form::kRow, count, nullptr);
  const Scratch kept(recorder, count * tiles * scan.item);
  launch(Form::kSums, count * tiles, &kept);
  if (tiles <= kGroupSize) return launch(Form::kFewTiles, count * tiles, &kept);
  launch(Form::kBefore, count, &kept);
  launch(Form::kTiles, count * tiles, &kept);
}

}  // namespace lunagrad::gpu
