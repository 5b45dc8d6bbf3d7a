// The notes of ranks with separate clocks become one step with times of one clock.
#include <doctest/doctest.h>

#include "runtime/core/error.h"
#include "script/profile/rank_steps.h"

using namespace lunagrad;

namespace {

constexpr int64_t kAhead = 1'000'000;  // ns by which rank 0's clock is ahead of rank 1's
constexpr int64_t kMessage = 500;      // ns that the fastest message took

// Two ranks; times in ns by rank 0's clock. Rank 0 waits from 200 to 900 for a collective that rank 1 enters
// at 700; then both compute until 1000 and 1040.
std::vector<RankNotes> two_ranks() {
  std::vector<RankNotes> ranks(2);
  for (size_t r = 0; r < 2; ++r) {
    const int64_t shift = r == 0 ? 0 : -kAhead;
    RankNotes& notes = ranks[r];
    notes.step = 7;
    notes.begin = 100 + shift;
    notes.end = (r == 0 ? 1000 : 1040) + shift;
    const int64_t begun = r == 0 ? 200 : 700;
    notes.travelled.transfers.push_back({.number = 3,
                                         .op = "all_reduce",
                                         .label = "gradients of a … b (bucket 1 of 2)",
                                         .line = {intern("train.lua"), 12},
                                         .bytes = 4096,
                                         .begun = begun + shift,
                                         .met = 720 + shift,
                                         .ended = 900 + shift});
    notes.travelled.waits.push_back({begun + shift, 900 + shift});
    notes.nearest = r == 0 ? std::vector<int64_t>{dist::TransferLog::kUnheard, kAhead + kMessage}
                           : std::vector<int64_t>{-kAhead + kMessage};
  }
  return ranks;
}

double part(const RankStep& step, size_t rank, RankTime time) { return step.lanes[rank].ns[size_t(time)]; }

}  // namespace

TEST_CASE("steps of ranks: clocks are compared through the stamps of both") {
  const std::vector<int64_t> offsets = clock_offsets(two_ranks());
  CHECK(offsets == std::vector<int64_t>{0, kAhead});
  std::vector<RankNotes> strangers = two_ranks();
  strangers[1].nearest.clear();
  CHECK(clock_offsets(strangers)[1] == 0);
  std::vector<RankNotes> neighbours = two_ranks();
  neighbours[0].machine = neighbours[1].machine = "one machine";
  CHECK(clock_offsets(neighbours)[1] == 0);
  neighbours[1].machine = "another";
  CHECK(clock_offsets(neighbours)[1] == kAhead);
}

TEST_CASE("steps of ranks: who waits for the slowest, and the parts of a step") {
  const auto step = rank_step(two_ranks(), 40);
  CHECK(step->step == 7);
  CHECK(step->begin_ns == 60);
  CHECK(step->length_ns == 940);
  REQUIRE(step->lanes.size() == 2);
  CHECK(part(*step, 0, RankTime::compute) == 200);
  CHECK(part(*step, 0, RankTime::waiting) == 500);
  CHECK(part(*step, 0, RankTime::communication) == 200);
  CHECK(part(*step, 1, RankTime::compute) == 740);
  CHECK(part(*step, 1, RankTime::waiting) == 0);
  CHECK(part(*step, 1, RankTime::communication) == 200);
  for (const RankLane& lane : step->lanes) {
    CHECK(lane.ns[0] + lane.ns[1] + lane.ns[2] == lane.length_ns);
    REQUIRE(lane.transfers.size() == 1);
    CHECK(lane.transfers[0].last == 1);
    CHECK(lane.transfers[0].met_ns == 600);
    CHECK(lane.transfers[0].place.line == 12);
    // The blocks cover the step without gaps.
    double at = lane.begin_ns;
    for (const RankLane::Block& block : lane.blocks) {
      CHECK(block.start_ns == at);
      at += block.length_ns;
    }
    CHECK(at == lane.begin_ns + lane.length_ns);
  }
  const std::vector<std::shared_ptr<const RankStep>> steps{step};
  const RankSums sums = sum_ranks(steps);
  CHECK(sums.slowest == 1);
  CHECK(rank_sentence(sums) == "Rank 1 is the slowest: 740 ns of compute a step, the other 200 ns.");
}

TEST_CASE("steps of ranks: what travels beside the computation is no part of the step") {
  std::vector<RankNotes> ranks = two_ranks();
  for (RankNotes& notes : ranks) notes.travelled.waits.clear();
  const auto step = rank_step(ranks, 0);
  for (const RankLane& lane : step->lanes) {
    CHECK(lane.ns[size_t(RankTime::compute)] == lane.length_ns);
    CHECK(lane.transfers.size() == 1);
  }
}

TEST_CASE("steps of ranks: a wait to receive ends when the other rank sends, whatever goes on beside it") {
  std::vector<RankNotes> ranks = two_ranks();
  dist::LoggedTransfers& own = ranks[0].travelled;
  // Started at 150, its head arrives at 940, the rest at 950. A send beside it is not waited for.
  own.transfers.push_back({.op = "send", .begun = 160, .met = 170, .ended = 945});
  own.transfers.push_back({.op = "receive", .bytes = 64, .begun = 150, .met = 940, .ended = 950});
  own.waits.push_back({910, 950, 940});
  const RankNotes came = rank_notes(text_of(ranks[0]));
  CHECK(came.travelled.waits[1].met == 940);
  const auto step = rank_step({came, ranks[1]}, 40);
  CHECK(part(*step, 0, RankTime::compute) == 160);
  CHECK(part(*step, 0, RankTime::waiting) == 500 + 30);
  CHECK(part(*step, 0, RankTime::communication) == 200 + 10);
  const RankLane& lane = step->lanes[0];
  REQUIRE(lane.transfers.size() == 3);
  CHECK_FALSE(lane.transfers[0].pair);
  CHECK(lane.transfers[2].pair);
  CHECK(lane.blocks[lane.blocks.size() - 2].transfer == 2);
  CHECK(lane.transfers[2].last == -1);
}

TEST_CASE("steps of ranks: ranks that compute alike are even") {
  std::vector<RankNotes> ranks = two_ranks();
  ranks[1] = ranks[0];
  ranks[1].nearest = {0};
  ranks[0].nearest[1] = 0;
  const std::vector<std::shared_ptr<const RankStep>> steps{rank_step(ranks, 0)};
  CHECK(sum_ranks(steps).slowest == -1);
  CHECK(rank_sentence(sum_ranks(steps)) == "The ranks are even: 200 ns to 200 ns of compute a step.");
}

TEST_CASE("steps of ranks: notes travel as text") {
  const RankNotes sent = two_ranks()[1];
  const RankNotes came = rank_notes(text_of(sent));
  CHECK(came.step == sent.step);
  CHECK(came.begin == sent.begin);
  CHECK(came.end == sent.end);
  CHECK(came.nearest == sent.nearest);
  REQUIRE(came.travelled.transfers.size() == 1);
  CHECK(came.travelled.transfers[0].label == sent.travelled.transfers[0].label);
  CHECK(came.travelled.transfers[0].line == sent.travelled.transfers[0].line);
  CHECK(came.travelled.waits[0].end == sent.travelled.waits[0].end);
  CHECK_THROWS_AS(rank_notes("{\"step\": 1}"), Error);
  CHECK_THROWS_AS(rank_notes("no text"), Error);
}
