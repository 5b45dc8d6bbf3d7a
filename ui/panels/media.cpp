// Media: pictures, histograms and texts that the script logged with lg.run.image, histogram and text, over
// its steps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "runtime/core/figures.h"
#include "ui/base/axis_scale.h"
#include "ui/base/counted.h"
#include "ui/widgets/value_view.h"
#include "ui/window/texture.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

const char* kind_name(Event::Kind kind) {
  return kind == Event::Kind::image ? "image" : kind == Event::Kind::histogram ? "histogram" : "text";
}

// The cells of a table: rows of text with | between the cells, as in Markdown, or with tabs. Empty if the
// text is not a table.
std::vector<std::vector<std::string>> table_in(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const char mark = line.find('|') != line.npos ? '|' : '\t';
    if (line.find(mark) == line.npos) return {};
    if (mark == '|' && line.find_first_not_of(" |:-") == line.npos) continue;  // the rule under the heading
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream cells(mark == '|' && line.front() == '|' ? line.substr(1) : line);
    for (std::string cell; std::getline(cells, cell, mark);) {
      const size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(' ');
      row.push_back(begin == cell.npos ? "" : printable(cell.substr(begin, end - begin + 1)));
    }
    if (row.size() > 60 || row.size() != rows.front().size()) return {};
  }
  return rows.size() > 1 ? rows : std::vector<std::vector<std::string>>();
}

class MediaPanel final : public Panel {
 public:
  const char* title() const override { return "Media"; }
  Region region() const override { return Region::upper_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override {
    return step_of_entry_ ? std::optional(PanelStep{*step_of_entry_}) : std::nullopt;
  }

  void draw(Workbench& bench) override {
    const auto& all = bench.journal().media().series();
    if (all.empty()) {
      texture_.clear();
      shown_ = nullptr;
      step_of_entry_.reset();
      draw_empty("No pictures, histograms or texts yet",
                 "Output of lg.run.image, lg.run.histogram and lg.run.text appears here.");
      return;
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool beside = room.x > em(26);
    const float width = beside ? std::min(em(11), room.x * 0.3f) : room.x;
    const float height = beside ? room.y : std::min(em(5), room.y * 0.35f);
    ImGui::BeginChild("series", {width, height});
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string label = printable(all[i].name) + "##" + std::to_string(i);
      const bool chosen = all[i].name == name_ && all[i].kind == kind_;
      if (ImGui::Selectable(label.c_str(), chosen) || name_.empty()) choose(all[i]);
      bench.description().add_last("media.series",
                                   std::string(kind_name(all[i].kind)) + " " + printable(all[i].name));
      if (ImGui::IsItemHovered()) {
        const std::string help =
            std::string(kind_name(all[i].kind)) + " " + printable(all[i].name) + ": " +
            counted(int64_t(all[i].entries.size()), "step") + ", " + bytes_figure(double(all[i].bytes)) +
            (all[i].thinned ? "; " + count_figure(all[i].thinned) + " older left out" : "");
        explain(help.c_str());
      }
    }
    ImGui::EndChild();
    if (beside) ImGui::SameLine(0, em(0.8f));
    ImGui::BeginChild("shown");
    auto series = std::find_if(all.begin(), all.end(),
                               [&](const MediaSeries& s) { return s.name == name_ && s.kind == kind_; });
    if (series == all.end()) {
      choose(all.front());
      series = all.begin();
    }
    draw_series(bench, *series);
    ImGui::EndChild();
  }

 private:
  void choose(const MediaSeries& series) {
    name_ = series.name;
    kind_ = series.kind;
    follow_ = true;
    shown_ = nullptr;
  }

  void draw_series(Workbench& bench, const MediaSeries& series) {
    const int last = int(series.entries.size()) - 1;
    if (!follow_) {
      // Entries may have been thinned out: takes the entry nearest to the chosen step.
      const auto found =
          std::lower_bound(series.entries.begin(), series.entries.end(), step_,
                           [](const MediaSeries::Entry& e, int64_t step) { return e.step < step; });
      at_ = int(std::min<size_t>(size_t(found - series.entries.begin()), size_t(last)));
    } else {
      at_ = last;
      if (!bench.shown().live()) {  // at a past step the newest of then
        const auto later =
            std::upper_bound(series.entries.begin(), series.entries.end(), bench.shown().cursor(),
                             [](int64_t step, const MediaSeries::Entry& entry) { return step < entry.step; });
        at_ = std::max(int(later - series.entries.begin()) - 1, 0);
      }
    }
    step_of_entry_ = series.entries[size_t(at_)].step;
    const std::string position = "step " + std::to_string(*step_of_entry_);
    const float button = ImGui::CalcTextSize("Latest").x + em(1.6f);
    ImGui::SetNextItemWidth(std::max(em(3), ImGui::GetContentRegionAvail().x - button));
    ImGui::BeginDisabled(last == 0);
    if (ImGui::SliderInt("##at", &at_, 0, std::max(last, 1), position.c_str(), ImGuiSliderFlags_NoInput)) {
      at_ = std::clamp(at_, 0, last);
      follow_ = at_ == last;
      step_ = series.entries[size_t(at_)].step;
    }
    ImGui::EndDisabled();
    bench.description().add_last(
        "media.slider", position + ", " + std::to_string(at_ + 1) + " of " + std::to_string(last + 1));
    explain("The step to show.");
    ImGui::SameLine();
    if (tool_button("Latest", follow_)) follow_ = true;
    bench.description().add_last("media.latest", follow_ ? "on" : "off");
    explain("Follows the newest.");
    const MediaSeries::Entry& entry = series.entries[size_t(at_)];
    if (series.kind == Event::Kind::image)
      draw_image(bench, entry.media);
    else if (series.kind == Event::Kind::histogram)
      draw_histogram(bench, series);
    else
      draw_text(bench, *entry.media);
  }

  void draw_image(Workbench& bench, const std::shared_ptr<const Media>& given) {
    const Media& media = *given;
    if (shown_ != given) {
      shown_ = given;
      scaled_ = media.shown_width > Texture::kLargest || media.shown_height > Texture::kLargest;
      if (!scaled_) texture_.set(media.shown_width, media.shown_height, media.pixels.data());
    }
    std::string said = std::to_string(media.width) + " x " + std::to_string(media.height);
    if (media.shown_width != media.width) said += ", thinned";
    if (!media.file.empty()) said += ", " + media.file;
    text_in(theme().muted, "%s", said.c_str());
    bench.description().add_last("media.image", said);
    if (scaled_) {
      draw_empty("Too large for the window", "The full image is in the run's folder.");
      return;
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (room.x < 2 || room.y < 2) return;
    float scale = std::min(room.x / float(media.shown_width), room.y / float(media.shown_height));
    if (scale > 1) scale = std::floor(scale);
    const ImVec2 at = ImGui::GetCursorScreenPos(),
                 size{float(media.shown_width) * scale, float(media.shown_height) * scale};
    ImGui::Image(texture_.id(), size);
    bench.description().add_last("media.picture", media.name);
    if (!ImGui::IsItemHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int x = std::clamp(int((mouse.x - at.x) / scale), 0, media.shown_width - 1);
    const int y = std::clamp(int((mouse.y - at.y) / scale), 0, media.shown_height - 1);
    const uint32_t pixel = media.pixels[size_t(y) * size_t(media.shown_width) + size_t(x)];
    char text[96];
    std::snprintf(text, sizeof text, "row %d, column %d: red %u, green %u, blue %u", y + 1, x + 1,
                  pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255);
    const ImVec2 low{at.x + float(x) * scale, at.y + float(y) * scale};
    show_tip(text, {.area = {low, {low.x + scale, low.y + scale}}});
  }

  void draw_histogram(Workbench& bench, const MediaSeries& series) {
    const Media& media = *series.entries[size_t(at_)].media;
    const std::string said = counted(media.count, "value") + "  min " + number_figure(media.min) + "  max " +
                             number_figure(media.max) + "  mean " + number_figure(media.mean) + "  std " +
                             number_figure(media.std) + "  zeros " + count_figure(media.zeros) + "  NaN " +
                             count_figure(media.nans) + "  Inf " + count_figure(media.infinities);
    ImGui::PushTextWrapPos(0);
    text_in(media.nans + media.infinities > 0 ? theme().bad : theme().muted, "%s", said.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("media.histogram", said);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool over_steps = series.entries.size() > 1;
    const float half = over_steps ? std::floor((room.y - em(0.5f)) / 2) : room.y;
    if (half > em(3)) {
      draw_bars(media, {room.x, half});
      if (over_steps) draw_steps(bench, series, {room.x, half});
    }
  }

  // All bars have the same width. The bins grow with the values, and bars as wide as their bins would be
  // misread. The axis labels some of the edges.
  static void draw_bars(const Media& media, ImVec2 size) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("bars", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight(), floor = at.y + size.y - line - 2;
    list->AddRectFilled(at, {at.x + size.x, floor}, theme().canvas);
    if (media.counts.empty() || media.edges.size() != media.counts.size() + 1) {
      list->AddText({at.x + em(0.5f), at.y + em(0.3f)}, theme().faint, "no finite values");
      return;
    }
    const int64_t most = std::max<int64_t>(1, *std::max_element(media.counts.begin(), media.counts.end()));
    const size_t bins = media.counts.size();
    const float width = size.x / float(bins);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (size_t i = 0; i < bins; ++i) {
      const float left = at.x + float(i) * width,
                  tall = float(media.counts[i]) / float(most) * (floor - at.y - line);
      const float top = media.counts[i] > 0 ? std::min(floor - tall, floor - 1) : floor;
      list->AddRectFilled({left + 0.5f, top}, {left + std::max(width - 0.5f, 1.0f), floor},
                          theme().series[0]);
      if (ImGui::IsItemHovered() && mouse.x >= left && mouse.x < left + width)
        show_tip(counted(media.counts[i], "value") + " from " + number_figure(media.edges[i]) + " up to " +
                     number_figure(media.edges[i + 1]),
                 {.area = {{left, at.y}, {left + width, at.y + size.y}}, .aside = true});
    }
    list->AddText({at.x + 3, at.y + 1}, theme().faint, (count_figure(most) + " in the largest bin").c_str());
    const int labels = std::max(1, int(size.x / em(5)));
    float free = at.x - 1;
    for (int k = 0; k <= labels; ++k) {
      const size_t edge = std::min(bins, size_t(std::lround(double(k) * double(bins) / labels)));
      const std::string text = number_figure(media.edges[edge]);
      const float wide = ImGui::CalcTextSize(text.c_str()).x;
      const float x =
          std::clamp(at.x + float(edge) * width - wide / 2, at.x, std::max(at.x, at.x + size.x - wide));
      if (x < free) continue;
      list->AddText({x, floor + 1}, theme().muted, text.c_str());
      free = x + wide + em(0.6f);
    }
  }

  // Minimum, maximum and percentiles over the steps: bands from 5 to 95 % and from 25 to 75 %, and the median
  // as a line.
  void draw_steps(Workbench& bench, const MediaSeries& series, ImVec2 size) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("steps", {std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
    bench.description().add_last("media.steps", std::to_string(series.entries.size()) + " steps");
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight(), floor = at.y + size.y - line - 2, left = at.x + em(4);
    const float right = std::max(left + 1, at.x + size.x);
    list->AddRectFilled({left, at.y}, {right, floor}, theme().canvas);
    const auto drawable = [](const Media& media) { return media.count > media.nans + media.infinities; };
    double low = INFINITY, high = -INFINITY;
    for (const auto& entry : series.entries) {
      if (!drawable(*entry.media)) continue;
      low = std::min(low, entry.media->min);
      high = std::max(high, entry.media->max);
    }
    if (!(high >= low)) low = high = 0;
    if (high == low) high = low + 1;
    const int64_t first = series.entries.front().step, last = std::max(series.entries.back().step, first + 1);
    const auto x_of = [&](int64_t step) {
      return left + float(step - first) / float(last - first) * (right - left);
    };
    const auto y_of = [&](double value) {
      return floor - float((value - low) / (high - low)) * (floor - at.y);
    };
    for (const double value : axis_ticks(low, high, std::max(2, int((floor - at.y) / (line * 2))))) {
      const float y = y_of(value);
      list->AddLine({left, y}, {right, y}, theme().grid);
      list->AddText({at.x, std::clamp(y - line / 2, at.y, floor - line)}, theme().muted,
                    number_figure(value).c_str());
    }
    const auto quantile = [](const Media& media, size_t i) {
      return i < media.percentiles.size() ? media.percentiles[i].second : media.mean;
    };
    // At most a few hundred segments for any number of steps. No antialiasing: it would show seams between
    // them.
    const ImDrawListFlags smooth = list->Flags;
    list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
    const size_t count = series.entries.size(), stride = std::max<size_t>(1, count / 400);
    for (size_t i = 0; i + 1 < count; i += stride) {
      const auto& a = series.entries[i];
      const auto& b = series.entries[std::min(i + stride, count - 1)];
      const float xa = x_of(a.step), xb = x_of(b.step);
      if (!drawable(*a.media) || !drawable(*b.media)) {  // no finite values: hatched
        for (float x = xa; x < xb; x += em(0.5f))
          list->AddLine({x, floor}, {std::min(x + em(0.5f), xb), at.y}, theme().bad);
        continue;
      }
      const auto band = [&](double a0, double a1, double b0, double b1, ImU32 color) {
        list->AddQuadFilled({xa, y_of(a1)}, {xb, y_of(b1)}, {xb, y_of(b0)}, {xa, y_of(a0)}, color);
      };
      const ImU32 color = theme().series[0];
      band(a.media->min, a.media->max, b.media->min, b.media->max, with_alpha(color, 0.12f));
      band(quantile(*a.media, 0), quantile(*a.media, 4), quantile(*b.media, 0), quantile(*b.media, 4),
           with_alpha(color, 0.25f));
      band(quantile(*a.media, 1), quantile(*a.media, 3), quantile(*b.media, 1), quantile(*b.media, 3),
           with_alpha(color, 0.4f));
      list->AddLine({xa, y_of(quantile(*a.media, 2))}, {xb, y_of(quantile(*b.media, 2))}, theme().text, 1.5f);
    }
    list->Flags = smooth;
    if (const int64_t cursor = bench.shown().cursor(); cursor >= first && cursor <= last) {
      const float x = x_of(cursor);
      list->AddLine({x, at.y}, {x, floor}, cursor_color(bench), 2);
      describe_cursor(bench, "media.cursor", x, at.y, floor);
    }
    const float now = x_of(series.entries[size_t(at_)].step);
    list->AddLine({now, at.y}, {now, floor}, theme().accent, 1.5f);
    list->AddText({left, floor + 1}, theme().muted, ("step " + std::to_string(first)).c_str());
    const std::string end = std::to_string(series.entries.back().step);
    list->AddText({right - ImGui::CalcTextSize(end.c_str()).x, floor + 1}, theme().muted, end.c_str());
    if (!ImGui::IsItemHovered()) return;
    const float mouse = ImGui::GetIO().MousePos.x;
    const auto nearest =
        std::min_element(series.entries.begin(), series.entries.end(), [&](const auto& a, const auto& b) {
          return std::abs(x_of(a.step) - mouse) < std::abs(x_of(b.step) - mouse);
        });
    std::string said =
        "step " + std::to_string(nearest->step) + "\nmax " + number_figure(nearest->media->max);
    for (size_t i = nearest->media->percentiles.size(); i-- > 0;)
      said += "\n" + std::to_string(nearest->media->percentiles[i].first) + " % below " +
              number_figure(nearest->media->percentiles[i].second);
    said += "\nmin " + number_figure(nearest->media->min) + "\nClick to show this step.";
    const float x = x_of(nearest->step);
    show_tip(said, {.area = {{x - 1, at.y}, {x + 1, floor}}, .aside = true});
    if (ImGui::IsItemClicked()) {
      step_ = nearest->step;
      follow_ = nearest + 1 == series.entries.end();
    }
  }

  static void draw_text(Workbench& bench, const Media& media) {
    if (ImGui::Button("Copy")) ImGui::SetClipboardText(media.text.c_str());
    explain("Copies the text.");
    ImGui::BeginChild("text", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
    const auto rows = table_in(media.text);
    if (!rows.empty() && ImGui::BeginTable("cells", int(rows[0].size()),
                                           ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg |
                                               ImGuiTableFlags_Resizable | ImGuiTableFlags_Borders)) {
      for (size_t r = 0; r < rows.size(); ++r) {
        ImGui::TableNextRow();
        for (const std::string& cell : rows[r]) {
          ImGui::TableNextColumn();
          if (r == 0)
            bold_text(cell);
          else
            ImGui::TextUnformatted(cell.c_str());
          bench.description().add_last("media.cell", cell);
        }
      }
      ImGui::EndTable();
    } else {
      ImGui::PushTextWrapPos(0);
      std::istringstream lines(media.text);
      for (std::string line; std::getline(lines, line);) {
        const std::string shown = printable(line);
        ImGui::TextUnformatted(shown.c_str(), shown.c_str() + shown.size());
        bench.description().add_last("media.text", shown);
      }
      ImGui::PopTextWrapPos();
    }
    ImGui::EndChild();
  }

  std::string name_;
  Event::Kind kind_ = Event::Kind::image;
  bool follow_ = true;
  int64_t step_ = 0;  // the chosen step
  int at_ = 0;
  std::optional<int64_t> step_of_entry_;  // of the shown one
  std::shared_ptr<const Media> shown_;    // the picture in the texture
  bool scaled_ = false;
  Texture texture_;
};

}  // namespace

std::unique_ptr<Panel> make_media_panel() { return std::make_unique<MediaPanel>(); }

}  // namespace lunagrad
