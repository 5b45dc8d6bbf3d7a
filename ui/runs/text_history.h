#pragma once
// The texts that a run has loaded, its script and the modules that it required, with the steps after which it
// loaded them: which text a step ran. Fed by the journal. Needs no window and no file. One thread.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/text/source_text.h"

namespace lunagrad {

class TextHistory {
 public:
  // Of texts that other texts have replaced; the oldest are dropped first.
  explicit TextHistory(size_t most_bytes = size_t(32) << 20) : most_bytes_(most_bytes) {}

  // The run loaded `file`, named as on the tape, after step `step`. Texts of later steps become void: a
  // reload may go back.
  void load(const std::string& file, int64_t step, std::string content);
  void reach(int64_t step);  // a step has ended

  // What a step ran of a file.
  struct Found {
    SourceTextPtr text;            // null: it is not known
    std::optional<int64_t> until;  // another text was loaded after this step; nothing: it is the latest
    bool first = false;            // the script has not been reloaded since the run began
  };
  // Nothing if the run has not loaded the file at all. Of steps before the first that reach() has seen, which
  // another process ran, the text is not known.
  std::optional<Found> at(const std::string& file, int64_t step) const;
  std::vector<std::string> files() const;
  uint64_t revision() const { return revision_; }  // grows when a text is loaded

 private:
  struct Loaded {
    int64_t step = 0;  // runs in later steps
    SourceTextPtr text;
  };
  void drop_after(int64_t step);
  void drop_oldest();

  size_t most_bytes_;
  std::string script_;                                // the file that was loaded first
  int scripts_ = 0;                                   // how often it was loaded
  int64_t begin_ = 0;                                 // the step after which it was first loaded
  int64_t first_ = 0;                                 // the first step that ended; 0: none yet
  std::map<std::string, std::vector<Loaded>> files_;  // ordered by step
  uint64_t revision_ = 0;
};

}  // namespace lunagrad
