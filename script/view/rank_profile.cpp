#include "script/view/rank_profile.h"

#include <algorithm>
#include <cstdio>

#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

constexpr double kEven = 1.05;  // compute times count as even if they differ by less

double compute_of(const RankSums& sums, size_t rank) {
  return sums.ns[rank][size_t(RankTime::compute)] / double(std::max<int64_t>(sums.steps, 1));
}

void find_slowest(RankSums& sums) {
  if (sums.ns.size() < 2) return;
  size_t slowest = 0;
  for (size_t i = 1; i < sums.ns.size(); ++i)
    if (compute_of(sums, i) > compute_of(sums, slowest)) slowest = i;
  double next = 0;
  for (size_t i = 0; i < sums.ns.size(); ++i)
    if (i != slowest) next = std::max(next, compute_of(sums, i));
  if (compute_of(sums, slowest) > kEven * next) sums.slowest = int(slowest);
}

}  // namespace

const char* rank_time_name(RankTime time) {
  constexpr const char* kNames[] = {"compute", "communication", "waiting"};
  return kNames[size_t(time)];
}

RankSums sum_ranks(std::span<const std::shared_ptr<const RankStep>> steps) {
  RankSums sums;
  for (const auto& step : steps) {
    ++sums.steps;
    sums.ns.resize(std::max(sums.ns.size(), step->lanes.size()));
    for (size_t i = 0; i < step->lanes.size(); ++i)
      for (size_t t = 0; t < kRankTimes; ++t) sums.ns[i][t] += step->lanes[i].ns[t];
  }
  find_slowest(sums);
  return sums;
}

RankSums all_ranks(const RankProfile& profile) {
  RankSums sums;
  sums.steps = profile.measured;
  sums.ns = profile.all;
  find_slowest(sums);
  return sums;
}

std::string rank_sentence(const RankSums& sums) {
  if (sums.ns.empty()) return {};
  if (sums.slowest < 0) {
    double least = compute_of(sums, 0), most = least;
    for (size_t i = 1; i < sums.ns.size(); ++i) {
      least = std::min(least, compute_of(sums, i));
      most = std::max(most, compute_of(sums, i));
    }
    return "The ranks are even: " + duration_figure(least) + " to " + duration_figure(most) +
           " of compute a step.";
  }
  const auto slowest = size_t(sums.slowest);
  double others = 0;
  for (size_t i = 0; i < sums.ns.size(); ++i)
    if (i != slowest) others += compute_of(sums, i) / double(sums.ns.size() - 1);
  return "Rank " + std::to_string(slowest) +
         " is the slowest: " + duration_figure(compute_of(sums, slowest)) + " of compute a step, the other" +
         (sums.ns.size() > 2 ? "s " : " ") + duration_figure(others) + ".";
}

std::string rank_table(const RankProfile& profile) {
  const RankSums sums = all_ranks(profile);
  std::string table = "rank     compute  communication     waiting   of a step\n";
  for (size_t i = 0; i < sums.ns.size(); ++i) {
    double step = 0;
    std::array<std::string, kRankTimes> figures;
    for (size_t t = 0; t < kRankTimes; ++t) {
      const double ns = sums.ns[i][t] / double(std::max<int64_t>(sums.steps, 1));
      step += ns;
      figures[t] = duration_figure(ns);
    }
    // Widths count bytes, and "µs" has one byte more than columns.
    const auto width = [](int columns, const std::string& figure) {
      return columns +
             int(std::count_if(figure.begin(), figure.end(), [](char c) { return (c & 0xc0) == 0x80; }));
    };
    const std::string whole = duration_figure(step);
    char line[160];
    std::snprintf(line, sizeof line, "%4zu  %*s  %*s  %*s  %*s\n", i, width(10, figures[0]),
                  figures[0].c_str(), width(13, figures[1]), figures[1].c_str(), width(10, figures[2]),
                  figures[2].c_str(), width(10, whole), whole.c_str());
    table += line;
  }
  return table + rank_sentence(sums) + "\n";
}

}  // namespace lunagrad
