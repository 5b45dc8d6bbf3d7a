#include "script/run/diff.h"

#include <algorithm>
#include <set>

namespace lunagrad {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

using Lines = std::vector<std::string_view>;

// For each line of both texts: whether it is part of the common subsequence.
struct Matched {
  std::vector<bool> left, right;
};

// Greedy: `reach[d]` holds, for each diagonal k = x - y, the farthest x that d changes can reach. The path is
// traced backwards.
Matched match(const Lines& a, const Lines& b) {
  constexpr int kMostChanges = 2000;
  Matched matched{std::vector<bool>(a.size()), std::vector<bool>(b.size())};
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::fill_n(matched.left.begin(), head, true);
  std::fill_n(matched.right.begin(), head, true);
  std::fill_n(matched.left.rbegin(), tail, true);
  std::fill_n(matched.right.rbegin(), tail, true);
  const int n = int(a.size() - head - tail), m = int(b.size() - head - tail);
  const auto equal = [&](int x, int y) { return a[head + size_t(x)] == b[head + size_t(y)]; };

  std::vector<std::vector<int>> reach;
  std::vector<int> furthest(2 * size_t(std::min(n + m, kMostChanges)) + 3, 0);
  const int middle = int(furthest.size() / 2);
  bool found = n + m == 0;
  for (int d = 0; !found && d <= std::min(n + m, kMostChanges); ++d) {
    reach.emplace_back(furthest.begin() + middle - d, furthest.begin() + middle + d + 1);
    for (int k = -d; k <= d && !found; k += 2) {
      const int down = furthest[size_t(middle + k + 1)], across = furthest[size_t(middle + k - 1)] + 1;
      int x = k == -d || (k != d && across <= down) ? down : across;
      if (d == 0) x = 0;
      while (x < n && x - k < m && equal(x, x - k)) ++x;
      furthest[size_t(middle + k)] = x;
      found = x >= n && x - k >= m;
    }
  }
  if (!found) return matched;
  int x = n, y = m;
  for (int d = int(reach.size()) - 1; d >= 0; --d) {
    // reach[d] holds what d - 1 changes reached, on diagonals -d to d.
    const auto before = [&](int k) { return reach[size_t(d)][size_t(k + d)]; };
    const int k = x - y;
    int from_x = 0, from_y = 0;
    if (d > 0) {
      const bool down = k == -d || (k != d && before(k - 1) + 1 <= before(k + 1));
      from_x = down ? before(k + 1) : before(k - 1);
      from_y = from_x - (down ? k + 1 : k - 1);
    }
    while (x > from_x && y > from_y) {
      --x, --y;
      matched.left[head + size_t(x)] = matched.right[head + size_t(y)] = true;
    }
    x = from_x;
    y = from_y;
  }
  return matched;
}

}  // namespace

std::vector<ConfigDifference> config_differences(const RunRecord& left, const RunRecord& right) {
  std::vector<ConfigDifference> differences;
  const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) differences.push_back({what, a, b});
  };
  const auto join = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  };
  compare("script", left.script, right.script);
  compare("arguments", join(left.arguments), join(right.arguments));
  compare("seed", left.seed, right.seed);
  compare("device", left.device, right.device);
  compare("commit", left.git_commit, right.git_commit);
  std::set<std::string> names;
  for (const auto& [name, value] : left.params) names.insert(name);
  for (const auto& [name, value] : right.params) names.insert(name);
  const auto value_of = [](const RunRecord& run, const std::string& name) {
    const auto found = run.params.find(name);
    return found == run.params.end() ? std::string() : found->second;
  };
  for (const std::string& name : names) compare("param " + name, value_of(left, name), value_of(right, name));
  return differences;
}

std::vector<DiffLine> line_diff(std::string_view left, std::string_view right) {
  const Lines a = lines_of(left), b = lines_of(right);
  const Matched matched = match(a, b);
  std::vector<DiffLine> all;
  for (size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    if (i < a.size() && !matched.left[i]) {
      all.push_back({'-', int(i + 1), 0, std::string(a[i])});
      ++i;
    } else if (k < b.size() && !matched.right[k]) {
      all.push_back({'+', 0, int(k + 1), std::string(b[k])});
      ++k;
    } else {
      all.push_back({' ', int(i + 1), int(k + 1), std::string(a[i])});
      ++i, ++k;
    }
  }
  return all;
}

std::vector<DiffLine> unified_diff(std::string_view left, std::string_view right, int context) {
  std::vector<DiffLine> all = line_diff(left, right);
  // Show only lines near a change.
  std::vector<bool> shown(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].sign == ' ') continue;
    const size_t end = std::min(all.size(), i + size_t(context) + 1);
    for (size_t k = i - std::min(i, size_t(context)); k < end; ++k) shown[k] = true;
  }
  std::vector<DiffLine> parts;
  int next_left = 1, next_right = 1;
  for (size_t i = 0; i < all.size(); ++i) {
    if (shown[i] && (i == 0 || !shown[i - 1]))
      parts.push_back({'@', next_left, next_right,
                       "line " + std::to_string(next_left) + " and " + std::to_string(next_right)});
    if (all[i].left) next_left = all[i].left + 1;
    if (all[i].right) next_right = all[i].right + 1;
    if (shown[i]) parts.push_back(std::move(all[i]));
  }
  return parts;
}

}  // namespace lunagrad
