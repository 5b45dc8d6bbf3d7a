#pragma once
// The lines of the console that are shown: those that the filter lets through, tracebacks folded unless they
// were opened. Follows the journal line by line, so that a hundred thousand lines cost nothing from frame to
// frame. Pure data.
#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "ui/runs/journal.h"

namespace lunagrad {

class ConsoleLines {
 public:
  // Kinds as bits, 1 << kind. Text is looked for without regard to case.
  void set_filter(const std::string& text, uint32_t kinds);
  void toggle(uint64_t message);  // opens or folds a traceback; its first line's number
  void update(const Journal&);    // takes over what was written

  // What is shown, in order; numbers count from the first line that was ever shown and never change.
  struct Shown {
    uint64_t line = 0;    // number of the journal's line, lines that were dropped included
    uint32_t folded = 0;  // so many lines of its message are hidden behind it
    bool opens = false;   // a click on its mark opens or folds them
  };
  uint64_t first() const { return first_; }
  size_t size() const { return shown_.size(); }
  const Shown& operator[](size_t i) const { return shown_[i]; }
  // Changes when what was shown before is no longer what it was; appending does not.
  uint64_t version() const { return version_; }
  size_t hidden() const { return hidden_; }  // by the filter

 private:
  void start_over();
  bool passes(const ConsoleLine&) const;
  bool is_traceback_shown(const Journal&, uint64_t line) const;

  std::string text_;
  uint32_t kinds_ = ~0u;
  std::set<uint64_t> open_;
  std::deque<Shown> shown_;
  uint64_t first_ = 0, version_ = 0;
  uint64_t next_ = 0;       // number of the first line that was not looked at
  bool tentative_ = false;  // the last one shown is not complete yet
  uint64_t revision_ = UINT64_MAX;
  size_t hidden_ = 0;
};

}  // namespace lunagrad
