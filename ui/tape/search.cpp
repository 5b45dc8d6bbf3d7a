#include "ui/tape/search.h"

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/tape/model.h"

namespace lunagrad {

void TapeSearch::update(const std::string& words, const std::vector<std::string>& texts, uint64_t structure) {
  if (words == words_ && structure == structure_ && found_.size() == (active() ? texts.size() : 0)) return;
  if (words != words_) at_ = -1;
  words_ = words;
  structure_ = structure;
  ++revision_;
  hits_.clear();
  found_.assign(active() ? texts.size() : 0, 0);
  if (!active()) return;
  for (size_t i = texts.size(); i-- > 0;) {
    if (!contains_words(texts[i], words)) continue;
    found_[i] = 1;
    hits_.push_back(int(i));
  }
  if (at_ >= int(hits_.size())) at_ = -1;
}

int TapeSearch::step(int by) {
  if (hits_.empty()) return -1;
  const int count = int(hits_.size());
  at_ = at_ < 0 ? (by > 0 ? 0 : count - 1) : ((at_ + by) % count + count) % count;
  return hits_[size_t(at_)];
}

std::string TapeSearch::summary(size_t nodes, int64_t step, bool of_former_run) const {
  const std::string count = counted(int64_t(nodes), "node");
  if (!active())
    return count + ", step " + std::to_string(step) + (of_former_run ? " of the previous run" : "");
  const std::string found = std::to_string(hits_.size()) + " of " + count;
  return at_ < 0 ? found : std::to_string(at_ + 1) + ": " + found;
}

}  // namespace lunagrad
