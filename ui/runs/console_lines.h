#pragma once
// The visible lines of the console: the lines that pass the filter, with tracebacks collapsed unless they
// were opened. Follows the journal incrementally, so that a hundred thousand lines cost nothing per frame.
// Pure data.
#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "ui/runs/journal.h"

namespace lunagrad {

class ConsoleLines {
 public:
  // Kinds as bits, 1 << kind. The search ignores case.
  void set_filter(const std::string& text, uint32_t kinds);
  void toggle(uint64_t message);  // opens or collapses a traceback; `message`: number of its first line
  void update(const Journal&);    // takes over new lines

  // The visible lines in order; numbers count from the first line that was ever visible and never change.
  struct Shown {
    uint64_t line = 0;       // number of the journal's line, including dropped lines
    uint32_t collapsed = 0;  // lines of its message that are collapsed
    bool opens = false;      // a click on its mark opens or collapses them
  };
  uint64_t first() const { return first_; }
  size_t size() const { return shown_.size(); }
  const Shown& operator[](size_t i) const { return shown_[i]; }
  // Changes when lines shown before have changed; appending does not change it.
  uint64_t version() const { return version_; }
  size_t hidden() const { return hidden_; }  // number of lines that the filter hides

 private:
  void start_over();
  bool passes(const ConsoleLine&) const;
  bool is_traceback_shown(const Journal&, uint64_t line) const;

  std::string text_;
  uint32_t kinds_ = ~0u;
  std::set<uint64_t> open_;
  std::deque<Shown> shown_;
  uint64_t first_ = 0, version_ = 0;
  uint64_t next_ = 0;       // number of the next line to check
  bool tentative_ = false;  // the last visible line is incomplete
  uint64_t revision_ = UINT64_MAX;
  size_t hidden_ = 0;
};

}  // namespace lunagrad
