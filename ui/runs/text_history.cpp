#include "ui/runs/text_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lunagrad {

void TextHistory::load(const std::string& file, int64_t step, std::string content) {
  ++revision_;
  if (files_.empty()) script_ = file;
  if (file == script_) {
    begin_ = scripts_++ == 0 ? step : std::min(begin_, step);
    drop_after(step);
  }
  std::vector<Loaded>& texts = files_[file];
  while (!texts.empty() && texts.back().step >= step) texts.pop_back();
  // A reload loads all modules again, mostly without a change.
  const SourceTextPtr before = texts.empty() ? nullptr : texts.back().text;
  if (before && before->content() == content) return;
  texts.push_back({step, std::make_shared<const SourceText>(std::move(content))});
  drop_oldest();
}

void TextHistory::drop_after(int64_t step) {
  for (auto& [file, texts] : files_)
    while (!texts.empty() && texts.back().step > step) texts.pop_back();
}

// Of each file the latest text stays, whatever its size.
void TextHistory::drop_oldest() {
  for (;;) {
    size_t bytes = 0;
    Loaded* oldest = nullptr;
    for (auto& [file, texts] : files_)
      for (size_t i = 0; i + 1 < texts.size(); ++i) {
        if (!texts[i].text) continue;
        bytes += texts[i].text->bytes();
        if (!oldest || texts[i].step < oldest->step) oldest = &texts[i];
      }
    if (bytes <= most_bytes_) return;
    oldest->text = nullptr;
  }
}

void TextHistory::reach(int64_t step) { first_ = first_ == 0 ? step : std::min(first_, step); }

std::optional<TextHistory::Found> TextHistory::at(const std::string& file, int64_t step) const {
  const auto loaded = files_.find(file);
  if (loaded == files_.end() || loaded->second.empty()) return std::nullopt;
  const std::vector<Loaded>& texts = loaded->second;
  const auto later =
      std::find_if(texts.begin(), texts.end(), [step](const Loaded& text) { return text.step >= step; });
  // A module that is loaded later did not run in this step: its first text is the nearest.
  const auto ran = later == texts.begin() ? later : std::prev(later);
  Found found;
  if (std::next(ran) != texts.end()) found.until = std::next(ran)->step;
  found.first = scripts_ == 1;
  const bool here = step >= begin_ && (step == begin_ || step >= first_);
  if (here) found.text = ran->text;
  return found;
}

std::vector<std::string> TextHistory::files() const {
  std::vector<std::string> names;
  for (const auto& [file, texts] : files_)
    if (!texts.empty()) names.push_back(file);
  return names;
}

}  // namespace lunagrad
