#include "script/profile/rank_steps.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

using Json = nlohmann::json;
using dist::Stretch;
using dist::TransferLog;
using dist::TransferRecord;

// When all ranks were ready for a collective: the time when the slowest rank was, by rank 0's clock.
struct Meeting {
  size_t ranks = 0;
  int64_t at = INT64_MIN;
  int last = -1;
};
using Meetings = std::unordered_map<uint64_t, Meeting>;

// The meetings of the collectives that all ranks have in this step.
Meetings meetings(const std::vector<RankNotes>& ranks, const std::vector<int64_t>& offsets) {
  Meetings all;
  for (size_t r = 0; r < ranks.size(); ++r)
    for (const TransferRecord& travel : ranks[r].travelled.transfers) {
      if (travel.number == 0) continue;
      Meeting& meeting = all[travel.number];
      ++meeting.ranks;
      if (travel.begun + offsets[r] <= meeting.at) continue;
      meeting.at = travel.begun + offsets[r];
      meeting.last = int(r);
    }
  std::erase_if(all, [&](const auto& entry) { return entry.second.ranks < ranks.size(); });
  return all;
}

class LaneMaker {
 public:
  LaneMaker(const RankNotes& notes, int64_t offset, int64_t start) : notes_(notes), shift_(offset - start) {
    lane_.begin_ns = at(notes.begin);
    lane_.length_ns = double(notes.end - notes.begin);
    lane_.more = notes.travelled.left_out;
  }

  RankLane make(const Meetings& met, int64_t start) {
    for (const TransferRecord& travel : notes_.travelled.transfers) {
      const auto found = met.find(travel.number);
      RankTransfer& made = lane_.transfers.emplace_back();
      made.pair = travel.number == 0;
      made.op = travel.op;
      made.label = travel.label;
      made.place = {interned(travel.line.file), travel.line.line};
      made.bytes = travel.bytes;
      made.begun_ns = at(travel.begun);
      made.end_ns = at(travel.ended);
      made.met_ns = at(travel.met);
      if (found == met.end()) continue;
      // The offset of the slowest rank's clock may be wrong by the time that a message takes.
      made.met_ns = std::clamp(double(found->second.at - start), made.begun_ns, made.end_ns);
      made.last = found->second.last;
    }
    double done = lane_.begin_ns;
    const double end = lane_.begin_ns + lane_.length_ns;
    for (const Stretch& wait : notes_.travelled.waits) {
      const double from = std::clamp(at(wait.begin), done, end), to = std::clamp(at(wait.end), from, end);
      add(RankTime::compute, done, from, -1);
      if (wait.met)
        await_pair(from, at(wait.met), to);
      else
        split(from, to);
      done = to;
    }
    add(RankTime::compute, done, end, -1);
    return std::move(lane_);
  }

 private:
  double at(int64_t ns) const { return double(ns + shift_); }

  void add(RankTime time, double from, double to, int32_t transfer) {
    if (to <= from) return;
    lane_.ns[size_t(time)] += to - from;
    lane_.blocks.push_back({time, from, to - from, transfer});
  }

  // Splits a wait for a transfer between two ranks: until the other rank is ready, then the transfer.
  void await_pair(double from, double met, double to) {
    const auto& all = lane_.transfers;
    const auto found = std::find_if(all.begin(), all.end(), [met](const RankTransfer& transfer) {
      return transfer.pair && transfer.met_ns == met;
    });
    const int32_t awaited = found == all.end() ? -1 : int32_t(found - all.begin());
    met = std::clamp(met, from, to);
    add(RankTime::waiting, from, met, awaited);
    add(RankTime::communication, met, to, awaited);
  }

  // Splits a wait for collectives, which run one after another. Time between two collectives is added to the
  // second.
  void split(double from, double to) {
    int32_t last = -1;
    const auto& all = lane_.transfers;
    while (next_ < all.size() && all[next_].end_ns <= from) ++next_;
    for (size_t i = next_; i < all.size() && from < to; ++i) {
      const RankTransfer& transfer = all[i];
      if (transfer.pair || transfer.end_ns <= from) continue;
      if (transfer.begun_ns >= to) break;
      last = int32_t(i);
      const double begun = std::clamp(transfer.begun_ns, from, to);
      add(RankTime::communication, from, begun, last);
      const double met = std::clamp(transfer.met_ns, begun, to);
      add(RankTime::waiting, begun, met, last);
      const double end = std::clamp(transfer.end_ns, met, to);
      add(RankTime::communication, met, end, last);
      from = end;
    }
    add(RankTime::communication, from, to, last);
  }

  const RankNotes& notes_;
  const int64_t shift_;
  RankLane lane_;
  size_t next_ = 0;  // earlier transfers ended before the current wait
};

}  // namespace

std::string text_of(const RankNotes& notes) {
  Json travels = Json::array(), waits = Json::array();
  for (const TransferRecord& t : notes.travelled.transfers)
    travels.push_back(
        {t.number, t.op, t.label, interned(t.line.file), t.line.line, t.bytes, t.begun, t.met, t.ended});
  for (const Stretch& wait : notes.travelled.waits) waits.push_back({wait.begin, wait.end, wait.met});
  const Json all = {{"step", notes.step},
                    {"begin", notes.begin},
                    {"end", notes.end},
                    {"travels", travels},
                    {"waits", waits},
                    {"nearest", notes.nearest},
                    {"left_out", notes.travelled.left_out},
                    {"machine", notes.machine}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RankNotes rank_notes(const std::string& text) {
  try {
    const Json all = Json::parse(text);
    RankNotes notes;
    notes.step = all.at("step");
    notes.begin = all.at("begin");
    notes.end = all.at("end");
    notes.travelled.left_out = all.at("left_out");
    notes.machine = all.at("machine");
    notes.nearest = all.at("nearest").get<std::vector<int64_t>>();
    for (const Json& t : all.at("travels")) {
      TransferRecord travel;
      travel.number = t.at(0);
      travel.op = t.at(1);
      travel.label = t.at(2);
      travel.line.file = intern(t.at(3).get<std::string>());
      travel.line.line = t.at(4);
      travel.bytes = t.at(5);
      travel.begun = t.at(6);
      travel.met = t.at(7);
      travel.ended = t.at(8);
      notes.travelled.transfers.push_back(std::move(travel));
    }
    for (const Json& wait : all.at("waits"))
      notes.travelled.waits.push_back({wait.at(0), wait.at(1), wait.at(2)});
    return notes;
  } catch (const Json::exception& error) {
    fail("profile of a rank: ", error.what());
  }
}

std::vector<int64_t> clock_offsets(const std::vector<RankNotes>& ranks) {
  const auto nearest = [&](size_t at, size_t of) {
    const std::vector<int64_t>& all = ranks[at].nearest;
    return of < all.size() ? all[of] : TransferLog::kUnheard;
  };
  std::vector<int64_t> offsets(ranks.size(), 0);
  for (size_t r = 1; r < ranks.size(); ++r) {
    if (!ranks[0].machine.empty() && ranks[r].machine == ranks[0].machine) continue;
    const int64_t above = nearest(0, r), below = nearest(r, 0);
    if (above != TransferLog::kUnheard && below != TransferLog::kUnheard) offsets[r] = above / 2 - below / 2;
  }
  return offsets;
}

std::shared_ptr<const RankStep> rank_step(const std::vector<RankNotes>& ranks, int64_t origin) {
  const std::vector<int64_t> offsets = clock_offsets(ranks);
  int64_t start = INT64_MAX, end = INT64_MIN;
  for (size_t r = 0; r < ranks.size(); ++r) {
    start = std::min(start, ranks[r].begin + offsets[r]);
    end = std::max(end, ranks[r].end + offsets[r]);
  }
  const auto met = meetings(ranks, offsets);
  auto step = std::make_shared<RankStep>();
  step->step = ranks[0].step;
  step->begin_ns = double(start - origin);
  step->length_ns = double(end - start);
  for (size_t r = 0; r < ranks.size(); ++r) {
    step->lanes.push_back(LaneMaker(ranks[r], offsets[r], start).make(met, start));
    step->lanes.back().rank = int(r);
  }
  return step;
}

}  // namespace lunagrad
