#include "gpu/ops/index/select.h"

#include <algorithm>
#include <optional>

#include "gpu/ops/copy.h"

namespace lunagrad::gpu {
namespace {

using shaders::Select;

struct SelectArguments {
  uint64_t operand, chosen, places, digits, states, counts, before, marks;
  uint32_t wanted, pass, passes, tiles, slabs, tiles_of_slab, flipped;
  uint32_t which;
  Rows rows;
};
static_assert(offsetof(SelectArguments, rows) == 96);

// Finds the bound of each row, then writes the selected elements.
class Selecting {
 public:
  Selecting(const Selection& selection, uint32_t which, Recorder& recorder)
      : x_(selection.x), recorder_(recorder) {
    constexpr uint64_t kTile = kGroupSize * Select::kEach, kLongestSlab = uint64_t(kGroupSize) << 15;
    a_.rows = selection.rows;
    a_.wanted = selection.wanted;
    a_.which = which;
    rows_ = a_.rows.count;
    const uint64_t extent = a_.rows.extent;
    const uint32_t bits = 8 * uint32_t(item_size(x_.dtype()));
    // The counters of larger digits are worth their memory in longer rows.
    constexpr uint64_t kLong = 1 << 16;
    digit_bits_ = bits >= 32 && extent >= kLong ? 11 : 8;
    a_.passes = (bits + digit_bits_ - 1) / digit_bits_;
    a_.flipped = selection.descending ? 0xffffffff >> (32 - std::min(bits, 32u)) : 0;
    tiles_ = (extent + kTile - 1) / kTile;
    a_.tiles = uint32_t(tiles_);
    const uint64_t fewest = (extent + kLongestSlab - 1) / kLongestSlab;
    const uint64_t slabs = std::clamp<uint64_t>(recorder.rates.busy_groups(8) / rows_, fewest, tiles_);
    a_.tiles_of_slab = uint32_t((tiles_ + slabs - 1) / slabs);
    a_.slabs = uint32_t((tiles_ + a_.tiles_of_slab - 1) / a_.tiles_of_slab);
    states_.emplace(recorder, rows_ * (a_.passes + 1) * 16);
    counts_.emplace(recorder, rows_ * tiles_ * 8);
    before_.emplace(recorder, rows_ * tiles_ * 8);
    marks_.emplace(recorder, rows_ * tiles_ * 32);
    find_bounds();
  }

  // mode: kPut or kPlace
  template <class Places>
  void put(uint32_t mode, const Tensor& chosen, const Places& places) {
    Launch launch(recorder_);
    a_.operand = launch.reads(x_);
    a_.states = launch.reads(*states_);
    a_.counts = launch.reads(*counts_);
    a_.before = launch.reads(*before_);
    a_.marks = launch.reads(*marks_);
    a_.chosen = launch.writes(chosen);
    a_.places = launch.writes(places);
    run(launch, mode, rows_ * tiles_);
  }

 private:
  void run(Launch& launch, uint32_t mode, uint64_t groups) {
    launch.run(Select{.mode = mode,
                      .raw_type = raw_type(x_.dtype()),
                      .type = uint32_t(x_.dtype()),
                      .bits = digit_bits_},
               {group_count(groups, recorder_)}, bytes_of(a_));
  }

  void find_bounds() {
    // The counts of digits, then the counts of NaN.
    const Tensor digits =
        Tensor::empty({int64_t(rows_ * ((uint64_t(a_.passes) << digit_bits_) + 1))}, DType::i32, x_.device());
    copy(digits, Tensor::number(int64_t(0)), recorder_);
    for (a_.pass = 0; a_.pass < a_.passes; ++a_.pass) {
      Launch launch(recorder_);
      a_.operand = launch.reads(x_);
      a_.digits = launch.writes(digits);
      a_.states = launch.writes(*states_);
      run(launch, Select::kDigits, rows_ * a_.slabs);
    }
    {
      Launch launch(recorder_);
      a_.operand = launch.reads(x_);
      a_.digits = launch.reads(digits);
      a_.states = launch.writes(*states_);
      a_.counts = launch.writes(*counts_);
      a_.marks = launch.writes(*marks_);
      run(launch, Select::kCount, rows_ * a_.slabs);
    }
    Launch launch(recorder_);
    a_.counts = launch.reads(*counts_);
    a_.before = launch.writes(*before_);
    run(launch, Select::kAddUp, rows_);
  }

  const Tensor& x_;
  Recorder& recorder_;
  SelectArguments a_{};
  uint64_t rows_, tiles_;
  uint32_t digit_bits_ = 8;
  std::optional<Scratch> states_, counts_, before_, marks_;
};

}  // namespace

void select_first(const Selection& selection, const Tensor& chosen, const Scratch& places,
                  Recorder& recorder) {
  Selecting(selection, Select::kFirst, recorder).put(Select::kPut, chosen, places);
}
void select_place(const Selection& selection, uint32_t which, const Tensor& values, const Tensor& places,
                  Recorder& recorder) {
  Selecting(selection, which, recorder).put(Select::kPlace, values, places);
}

}  // namespace lunagrad::gpu
