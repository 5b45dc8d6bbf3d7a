#pragma once
// The nodes of a tape that contain all words of a search, in the order in which they ran. Drawing thread
// only.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad {

class TapeSearch {
 public:
  // Searches again if the words or the tape's structure have changed. `texts` has a text per node, newest
  // node first.
  void update(const std::string& words, const std::vector<std::string>& texts, uint64_t structure);
  bool active() const { return !words_.empty(); }
  const std::vector<int>& hits() const { return hits_; }  // indices of nodes
  bool found(int node) const { return !active() || found_[size_t(node)]; }
  int at() const { return at_; }  // the hit that step() went to, -1: none yet
  int step(int by);               // goes to another hit and returns its node; -1 without hits
  // "12 nodes, step 3", or the number of hits.
  std::string summary(size_t nodes, int64_t step, bool of_former_run) const;
  uint64_t revision() const { return revision_; }

 private:
  std::string words_;
  uint64_t structure_ = 0, revision_ = 0;
  std::vector<int> hits_;
  std::vector<char> found_;
  int at_ = -1;
};

}  // namespace lunagrad
