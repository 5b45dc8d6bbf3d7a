#include "ui/window/indented_text.h"

#include <imgui.h>

#include <algorithm>

namespace lunagrad {

void indented_text(const std::string& text) {
  const float space = ImGui::CalcTextSize(" ").x;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const size_t begin = std::min(text.find_first_not_of(' ', from), end);
    const float indent = float(begin - from) * space;
    if (indent > 0) ImGui::Indent(indent);
    ImGui::TextUnformatted(text.c_str() + begin, text.c_str() + end);
    if (indent > 0) ImGui::Unindent(indent);
    from = end + 1;
  }
}

}  // namespace lunagrad
