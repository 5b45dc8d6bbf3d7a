#include "ui/runs/tree.h"

#include <map>
#include <string>
#include <utility>

namespace lunagrad {
namespace {

class Tree {
 public:
  Tree(const std::vector<RunSummary>& runs, const std::vector<size_t>& rows) : done_(runs.size()) {
    std::map<std::string, size_t> listed;
    for (const size_t row : rows) listed[runs[row].folder] = row;
    std::vector<size_t> outermost;
    for (const size_t row : rows) {
      const auto parent = listed.find(runs[row].parent);
      (parent == listed.end() ? outermost : forks_[parent->second]).push_back(row);
    }
    for (const size_t row : outermost) add({row, true, {}, false});
    // Folders that name each other as parents form no tree: they are added without a parent.
    for (const size_t row : rows) add({row, true, {}, false});
  }

  std::vector<RunTreeRow> take() { return std::move(tree_); }

 private:
  // A loop, since a chain of forks may be long.
  void add(RunTreeRow first) {
    std::vector<RunTreeRow> waiting{std::move(first)};
    while (!waiting.empty()) {
      RunTreeRow row = std::move(waiting.back());
      waiting.pop_back();
      if (done_[row.run]) continue;
      done_[row.run] = true;
      std::vector<bool> lines = row.lines;
      if (row.below) lines.push_back(!row.last);
      const std::vector<size_t>& forks = forks_[row.run];
      for (size_t i = forks.size(); i-- > 0;)
        waiting.push_back({forks[i], i + 1 == forks.size(), lines, true});
      tree_.push_back(std::move(row));
    }
  }

  std::map<size_t, std::vector<size_t>> forks_;
  std::vector<bool> done_;
  std::vector<RunTreeRow> tree_;
};

}  // namespace

std::vector<RunTreeRow> tree_of(const std::vector<RunSummary>& runs, const std::vector<size_t>& rows) {
  return Tree(runs, rows).take();
}

}  // namespace lunagrad
