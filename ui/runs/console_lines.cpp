#include "ui/runs/console_lines.h"

#include <algorithm>
#include <utility>

#include "runtime/core/lower_case.h"

namespace lunagrad {
namespace {

// The indented lines after an error's message.
bool is_traceback(const ConsoleLine& line) {
  return line.kind == ConsoleLine::Kind::error && line.part > 0 && line.text.starts_with("  ");
}

}  // namespace

void ConsoleLines::start_over() {
  first_ += shown_.size();
  shown_.clear();
  hidden_ = 0;
  next_ = 0;
  tentative_ = false;
  revision_ = UINT64_MAX;
  ++version_;
}

void ConsoleLines::set_filter(const std::string& text, uint32_t kinds) {
  const std::string wanted = lower_case(text);
  if (wanted == text_ && kinds == kinds_) return;
  text_ = wanted;
  kinds_ = kinds;
  start_over();
}

void ConsoleLines::toggle(uint64_t message) {
  if (!open_.erase(message)) open_.insert(message);
  start_over();
}

bool ConsoleLines::passes(const ConsoleLine& line) const {
  return (kinds_ >> int(line.kind) & 1) &&
         (text_.empty() || lower_case(line.text).find(text_) != std::string::npos);
}

void ConsoleLines::update(const Journal& journal) {
  if (revision_ == journal.revision()) return;
  revision_ = journal.revision();
  const uint64_t dropped = journal.lines_dropped(), end = dropped + journal.lines().size();
  for (; !shown_.empty() && shown_.front().line < dropped; ++first_) shown_.pop_front();
  if (std::exchange(tentative_, false) && !shown_.empty() && shown_.back().line == next_) shown_.pop_back();
  next_ = std::max(next_, dropped);
  for (; next_ < end; ++next_) {
    const ConsoleLine& line = journal.lines()[size_t(next_ - dropped)];
    const bool complete = next_ + 1 < end || !journal.line_open();
    if (is_traceback(line) && text_.empty() && complete) {
      const uint64_t message = next_ - line.part;
      // The last visible line belongs to this message: the traceback collapses below it.
      if (!shown_.empty() && shown_.back().line >= message && !open_.contains(message)) {
        ++shown_.back().collapsed;
        shown_.back().opens = true;
        continue;
      }
      if (!shown_.empty() && shown_.back().line >= message &&
          !is_traceback_shown(journal, shown_.back().line))
        shown_.back().opens = true;
    }
    if (!passes(line)) {
      if (complete) ++hidden_;
    } else {
      shown_.push_back({next_});
    }
    if (!complete) {
      tentative_ = passes(line);
      return;  // checked again when it has grown
    }
  }
}

bool ConsoleLines::is_traceback_shown(const Journal& journal, uint64_t line) const {
  return line >= journal.lines_dropped() &&
         is_traceback(journal.lines()[size_t(line - journal.lines_dropped())]);
}

}  // namespace lunagrad
