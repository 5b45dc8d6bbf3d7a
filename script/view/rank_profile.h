#pragma once
// What the ranks of a distributed run do in a step: times in nanoseconds by rank 0's clock. Immutable once
// made; any thread may read it.
//
// The time of a rank's step is measured on its script's thread, in three parts that add up to it. Compute:
// everything except waits for other ranks. Waiting: for the slowest rank to reach a collective, or for the
// other rank to begin a transfer. Communication: the rest of these waits. Transfers that run beside the
// script's computation are not part of these times, but are in `transfers`.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

enum class RankTime : uint8_t { compute, communication, waiting };
inline constexpr size_t kRankTimes = 3;
const char* rank_time_name(RankTime);

// A collective or a transfer between two ranks, on one rank.
struct RankTransfer {
  bool pair = false;  // a transfer between two ranks, which may overlap others
  std::string op;     // "all_reduce"
  std::string label;  // what is transferred: "gradients of fc1.weight … fc2.bias (bucket 1 of 3)", or ""
  SourcePlace place;
  int64_t bytes = 0;  // of this rank's tensor
  int last = -1;      // the rank that was ready last; -1: unknown
  // From the step's start: when this rank was ready, when all ranks were, and the end.
  double begun_ns = 0, met_ns = 0, end_ns = 0;
};

struct RankLane {
  int rank = 0;
  std::array<double, kRankTimes> ns{};
  double begin_ns = 0, length_ns = 0;  // from the step's start; the length of the rank's own step
  struct Block {
    RankTime time;
    double start_ns, length_ns;
    int32_t transfer;  // index of the awaited transfer; -1: compute, or unknown
  };
  std::vector<Block> blocks;  // ordered by start; together they cover the rank's step
  std::vector<RankTransfer> transfers;
  int64_t more = 0;  // number of transfers that are left out
};

struct RankStep {
  int64_t step = 0;
  double begin_ns = 0, length_ns = 0;  // since measuring began; length until the last rank has ended its step
  std::vector<RankLane> lanes;         // by rank
};

struct RankProfile {
  int64_t measured = 0;                                // number of steps
  std::vector<std::array<double, kRankTimes>> all;     // for each rank, the sum over these steps
  std::vector<std::shared_ptr<const RankStep>> steps;  // the last few, oldest first
};

// Times of several steps, by rank.
struct RankSums {
  int64_t steps = 0;
  std::vector<std::array<double, kRankTimes>> ns;
  int slowest = -1;  // the rank that computes longest, by more than a twentieth; -1: they are even
};
RankSums sum_ranks(std::span<const std::shared_ptr<const RankStep>>);
RankSums all_ranks(const RankProfile&);
// "Rank 2 is the slowest: 14.2 ms of compute a step, the others 9.8 ms."
std::string rank_sentence(const RankSums&);
// A line for each rank with the times of a step, and the sentence.
std::string rank_table(const RankProfile&);

}  // namespace lunagrad
