#include "ui/text/source_text.h"

namespace lunagrad {

SourceText::SourceText(std::string content) : content_(std::move(content)), begins_{0} {
  for (size_t at = content_.find('\n'); at != content_.npos; at = content_.find('\n', at + 1))
    begins_.push_back(uint32_t(at + 1));
}

std::string_view SourceText::line(int number) const {
  if (number < 1 || number > line_count()) return {};
  const size_t begin = begins_[size_t(number) - 1];
  const size_t end = number < line_count() ? begins_[size_t(number)] - 1 : content_.size();
  std::string_view line = std::string_view(content_).substr(begin, end - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> SourceText::lines() const {
  std::vector<std::string> lines;
  for (int i = 1; i <= line_count(); ++i) lines.emplace_back(line(i));
  return lines;
}

}  // namespace lunagrad
