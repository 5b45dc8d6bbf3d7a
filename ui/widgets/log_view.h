#pragma once
// Lines of coloured monospaced text, wrapped to the width, of which only the visible ones are drawn. Follows
// the end until scrolled up. Lines are selected with the mouse and copied with Ctrl+C. Knows text, nothing of
// sessions.
#include <imgui.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct LogLine {
  std::string_view text;
  ImU32 color;
};

class LogView {
 public:
  // `line(i)` gives line i of `count`; `revision` changes whenever any line does.
  void draw(const char* id, size_t count, uint64_t revision, const std::function<LogLine(size_t)>& line,
            ImVec2 size, ImU32 selection);
  void scroll_to_end() { follow_ = true; }
  bool following() const { return follow_; }

 private:
  struct Row {
    uint32_t line, begin, end;  // bytes of that line
  };
  void wrap(size_t count, const std::function<LogLine(size_t)>& line, int columns);

  std::vector<Row> rows_;
  uint64_t revision_ = UINT64_MAX;
  int columns_ = 0;
  bool follow_ = true;
  int64_t anchor_ = -1, caret_ = -1;  // selected lines
};

}  // namespace lunagrad
