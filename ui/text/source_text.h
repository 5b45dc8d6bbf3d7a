#pragma once
// A text of a script as a run loaded it, with its lines. Immutable; any thread may hold it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

class SourceText {
 public:
  explicit SourceText(std::string content);

  const std::string& content() const { return content_; }
  size_t bytes() const { return content_.size() + begins_.size() * sizeof(uint32_t); }
  int line_count() const { return int(begins_.size()); }
  std::string_view line(int number) const;  // from 1, without its end; "" if there is none
  std::vector<std::string> lines() const;   // as a TextBuffer has them

 private:
  std::string content_;
  std::vector<uint32_t> begins_;  // offset of each line
};

using SourceTextPtr = std::shared_ptr<const SourceText>;

}  // namespace lunagrad
