#pragma once
// Lines of coloured monospaced text, wrapped to the width; draws only the visible lines. Follows the end
// until the user scrolls up. Lines are selected with the mouse and copied with Ctrl+C; links are clickable.
// Wraps each line once, when it arrives. Knows text, no sessions. Drawing thread only.
#include <imgui.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lunagrad {

struct LogLine {
  std::string_view text;  // valid until the next line is requested
  ImU32 color = 0;
  const char* mark = "";                         // the kind of line, in the margin, in addition to its colour
  std::vector<std::pair<size_t, size_t>> links;  // byte ranges [first, second)
};

struct LogContent {
  uint64_t first = 0;  // number of the first line; numbers grow and are never reused
  size_t count = 0;
  uint64_t version = 0;                 // changes when a line other than the last one has changed
  std::function<LogLine(size_t)> line;  // from 0 to count - 1
};

class LogView {
 public:
  struct Colors {
    ImU32 selection, link, margin;
  };
  struct Click {
    bool happened = false;
    size_t line = 0, link = 0;
  };
  Click draw(const char* id, const LogContent&, ImVec2 size, const Colors&);
  void scroll_to_end() { follow_ = true; }
  bool following() const { return follow_; }

 private:
  struct Row {
    uint64_t line;
    uint32_t begin, end;  // byte range within the line
  };
  void wrap(const LogContent&, int columns);
  void wrap_line(uint64_t number, std::string_view text, int columns);
  Click draw_row(const LogContent&, const Row&, float margin, float width, const Colors&);

  std::deque<Row> rows_;
  uint64_t version_ = UINT64_MAX, next_ = 0;  // next_: the first line that is not wrapped yet
  int columns_ = 0;
  bool follow_ = true;
  int64_t anchor_ = -1, caret_ = -1;  // selected lines
};

}  // namespace lunagrad
