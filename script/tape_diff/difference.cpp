#include "script/tape_diff/difference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/core/figures.h"

namespace lunagrad {

size_t TapeDiff::count(TapeFinding::Kind kind) const {
  size_t nodes = 0;
  for (const TapeFinding& finding : findings)
    if (finding.kind == kind) nodes += finding.pairs.size();
  return nodes;
}

std::string change_figure(double from, double to) {
  constexpr int kFewest = 4, kMost = 17;
  int digits = kFewest;
  while (digits < kMost && number_figure(from, digits) == number_figure(to, digits)) ++digits;
  if (from == to) digits = kFewest;
  return number_figure(from, digits) + " → " + number_figure(to, digits);
}

std::string distance_text(const TapeMove& move, const TapeValue& left, const TapeValue& right) {
  const Summary &a = left.summary, &b = right.summary;
  std::string text;
  if (a.nans != b.nans) text = "NaN " + count_figure(a.nans) + " → " + count_figure(b.nans);
  if (a.infs != b.infs)
    text += (text.empty() ? "Inf " : ", Inf ") + count_figure(a.infs) + " → " + count_figure(b.infs);
  if (!text.empty()) return text + " of " + count_figure(a.count);
  if (a.count == 1) return change_figure(a.mean, b.mean);
  return "by " + number_figure(move.distance, 3);
}

double time_of(const TapeNode& node) { return node.forward_ns + node.backward_ns; }

std::vector<size_t> by_time(const TapeDiff& diff, size_t most) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t p = 0; p < diff.pairs.size(); ++p) {
    const TapePair& pair = diff.pairs[p];
    if (pair.a < 0 || pair.b < 0) continue;
    const double change =
        std::abs(time_of(diff.a.nodes[size_t(pair.a)]) - time_of(diff.b.nodes[size_t(pair.b)]));
    if (change > 0) order.emplace_back(-change, p);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), most));
  std::vector<size_t> pairs;
  for (const auto& [change, p] : order) pairs.push_back(p);
  return pairs;
}

}  // namespace lunagrad
