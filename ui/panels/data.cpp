// Data: the latest batch of the script's data loader, as pictures, text or rows, with its statistics.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/core/figures.h"
#include "ui/inspect/batch_probe.h"
#include "ui/inspect/batch_shapes.h"
#include "ui/widgets/value_view.h"
#include "ui/window/texture.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr int kMostPictures = 256;
constexpr int64_t kMostRows = 1000, kMostColumns = 60;  // Dear ImGui's tables have at most 64 columns

constexpr const char* kLooks[] = {"Pictures", "Text", "Rows"};
constexpr const char* kLookHelp[] = {
    "Samples as images. Bytes and values from 0 to 1 are shown as they are, others are scaled from min to "
    "max.",
    "Samples as text: numbers are character codes. · is no character, ↵ a line end.",
    "Samples as rows of numbers, dims flattened."};

class DataPanel final : public Panel {
 public:
  const char* title() const override { return "Data"; }
  Region region() const override { return Region::upper_left; }
  std::optional<PanelStep> shown_step(const Workbench&) const override {
    return view_ ? std::optional(PanelStep{view_->step}) : std::nullopt;
  }

  void add_commands(Workbench& bench) override {
    for (int look = 0; look < int(std::size(kLooks)); ++look)
      add_own_command(bench, kLooks[look], kLookHelp[look], [this, look] { look_ = BatchLook(look); });
    add_own_command(bench, "Keep this batch", kFreezeHelp, [this] { frozen_ = !frozen_; });
  }

  void draw(Workbench& bench) override {
    bench.measurements().want_data();
    const bool running = bench.journal().state() == SessionState::running;
    probe_.watch(bench.live_session(), bench.journal().step(), running, bench.wake());
    const std::shared_ptr<const BatchView> latest = probe_.view();
    if (latest && latest->available && latest != view_ && !(frozen_ && view_)) {
      view_ = latest;
      sheet_of_ = nullptr;
    }
    if (!view_) {
      draw_empty("No batch yet", "Batches of lg.data.DataLoader appear here while this panel is open.");
      return;
    }
    column_ = std::min(column_, view_->columns.size() - 1);
    draw_bar(bench);
    const ColumnView& shown = view_->columns[column_];
    draw_figures(bench, shown);
    const BatchLook look = look_.value_or(look_of(shown));
    if (look == BatchLook::pictures && can_be_pictures(shown))
      draw_pictures(bench, shown);
    else if (look == BatchLook::text && can_be_text(shown))
      draw_text(bench, shown);
    else
      draw_rows(bench, shown);
  }

 private:
  static constexpr const char* kFreezeHelp = "Keeps this batch while the run continues.";

  void draw_bar(Workbench& bench) {
    char text[160];
    std::snprintf(text, sizeof text, "epoch %lld, batch %lld of %lld, step %lld",
                  static_cast<long long>(view_->epoch), static_cast<long long>(view_->batch),
                  static_cast<long long>(view_->batches), static_cast<long long>(view_->step));
    ImGui::AlignTextToFramePadding();
    text_in(theme().text, "%s", text);
    bench.description().add_last("data.batch", text);
    explain(view_->loader.c_str());
    for (size_t i = 0; i < view_->columns.size(); ++i) {
      const std::string label = "value " + std::to_string(i + 1);
      beside(label);
      if (tool_button(label.c_str(), column_ == i)) {
        column_ = i;
        look_.reset();
        sheet_of_ = nullptr;
      }
      bench.description().add_last("data.column", label + " " + shape_text(view_->columns[i].shape));
      explain("The values that the loop gets: for x, y in loader do … end gets two.");
    }
    const ColumnView& shown = view_->columns[column_];
    const BatchLook now = look_.value_or(look_of(shown));
    const bool can[] = {can_be_pictures(shown), can_be_text(shown), true};
    for (int i = 0; i < 3; ++i) {
      beside(kLooks[i]);
      ImGui::BeginDisabled(!can[i]);
      if (tool_button(kLooks[i], int(now) == i)) look_ = BatchLook(i);
      bench.description().add_last("data.look", std::string(kLooks[i]) + (int(now) == i ? " on" : ""));
      ImGui::EndDisabled();
      explain(kLookHelp[i]);
    }
    beside("Freeze");
    if (tool_button("Freeze", frozen_)) frozen_ = !frozen_;
    bench.description().add_last("data.freeze", frozen_ ? "on" : "off");
    explain(kFreezeHelp);
  }

  static void beside(const std::string& label) {
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(label.c_str()).x + em(1.4f)) ImGui::NewLine();
  }

  static void draw_figures(Workbench& bench, const ColumnView& view) {
    char text[240];
    std::snprintf(text, sizeof text, "%s %s   min %s  max %s  mean %s  std %s  zeros %s  NaN %s  Inf %s",
                  view.dtype.c_str(), shape_text(view.shape).c_str(),
                  number_figure(view.statistics.min).c_str(), number_figure(view.statistics.max).c_str(),
                  number_figure(view.statistics.mean).c_str(), number_figure(view.statistics.std).c_str(),
                  count_figure(view.statistics.zeros).c_str(), count_figure(view.statistics.nans).c_str(),
                  count_figure(view.statistics.infinities + view.statistics.negative_infinities).c_str());
    ImGui::PushTextWrapPos(0);
    text_in(view.statistics.nans + view.statistics.infinities + view.statistics.negative_infinities > 0
                ? theme().bad
                : theme().muted,
            "%s", text);
    bench.description().add_last("data.figures", text);
    if (!view.note.empty()) text_in(theme().warning, "%s", view.note.c_str());
    ImGui::PopTextWrapPos();
  }

  // For each sample the value of another column, if that column has one number per sample.
  std::string label_of(int64_t sample) const {
    for (size_t i = 0; i < view_->columns.size(); ++i) {
      const ColumnView& other = view_->columns[i];
      if (i == column_ || other.shape.empty() || other.shape[0] != view_->columns[column_].shape[0]) continue;
      if (other.statistics.count == other.shape[0] && sample < int64_t(other.values.size()))
        return cell_text(other, sample);
    }
    return {};
  }

  void draw_pictures(Workbench& bench, const ColumnView& view) {
    if (sheet_of_ != &view) {
      sheet_of_ = &view;
      sheet_ = picture_sheet(view, kMostPictures, Texture::kLargest);
      if (sheet_.count > 0)
        texture_.set(sheet_.width, sheet_.height, sheet_.pixels.data());
      else
        texture_.clear();
      sheet_.pixels = {};
    }
    if (sheet_.count == 0) {
      draw_empty("Too large", "This batch is too large to draw. Show it as rows.");
      return;
    }
    const float line = ImGui::GetTextLineHeight(), gap = em(0.4f);
    const float scale =
        std::max(1.0f, std::round(em(4.5f) / float(std::max(sheet_.tile_width, sheet_.tile_height))));
    const ImVec2 tile{float(sheet_.tile_width) * scale, float(sheet_.tile_height) * scale};
    const bool labels = !label_of(0).empty();
    const ImVec2 cell{tile.x + gap, tile.y + gap + (labels ? line : 0)};
    ImGui::BeginChild("pictures", {0, 0});
    const int across = std::max(1, int((ImGui::GetContentRegionAvail().x + gap) / cell.x));
    const int rows = (sheet_.count + across - 1) / across;
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImGuiListClipper clipper;
    clipper.Begin(rows, cell.y);
    while (clipper.Step())
      for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        for (int c = 0; c < across && r * across + c < sheet_.count; ++c) {
          const int i = r * across + c;
          const ImVec2 from{at.x + float(c) * cell.x, at.y}, to{from.x + tile.x, from.y + tile.y};
          const auto part = [&](int columns, int rows_down) {
            return ImVec2{float(columns * sheet_.tile_width) / float(sheet_.width),
                          float(rows_down * sheet_.tile_height) / float(sheet_.height)};
          };
          const int column = i % sheet_.columns, row = i / sheet_.columns;
          list->AddImage(texture_.id(), from, to, part(column, row), part(column + 1, row + 1));
          const std::string label = labels ? label_of(i) : "";
          if (labels) list->AddText({from.x, to.y}, theme().muted, label.c_str());
          bench.description().add("data.picture", std::to_string(i + 1) + (labels ? ": " + label : ""), from,
                                  to);
          if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(from, to))
            show_tip_of(view, i, label, {from, to}, scale);
        }
        ImGui::Dummy({1, cell.y - ImGui::GetStyle().ItemSpacing.y});
      }
    clipper.End();
    if (sheet_.count < view.shape[0])
      text_in(theme().faint, "the first %d of %lld", sheet_.count, static_cast<long long>(view.shape[0]));
    ImGui::EndChild();
  }

  void show_tip_of(const ColumnView& view, int sample, const std::string& label, const ScreenArea& picture,
                   float scale) const {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int x = std::clamp(int((mouse.x - picture.min.x) / scale), 0, sheet_.tile_width - 1);
    const int y = std::clamp(int((mouse.y - picture.min.y) / scale), 0, sheet_.tile_height - 1);
    const std::string head = "sample " + std::to_string(sample + 1) + (label.empty() ? "" : ": " + label);
    begin_tip({.area = picture, .key = uint64_t(sample)}, head);
    ImGui::TextUnformatted(head.c_str());
    std::string values;
    const int64_t area = int64_t(sheet_.tile_width) * sheet_.tile_height;
    const int64_t channels = view.statistics.count / (view.shape[0] * area);
    const bool last = view.shape.size() == 4 && view.shape[1] == sheet_.tile_height &&
                      channels == view.shape[3] && channels != view.shape[1];
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t place = int64_t(y) * sheet_.tile_width + x;
      const int64_t index = sample * area * channels + (last ? place * channels + c : c * area + place);
      values += (c ? ", " : "") + cell_text(view, index);
    }
    text_in(theme().muted, "row %d, column %d: %s", y + 1, x + 1, values.c_str());
    text_in(theme().faint, "black %s, white %s", number_figure(sheet_.low).c_str(),
            number_figure(sheet_.high).c_str());
    end_tip();
  }

  void draw_text(Workbench& bench, const ColumnView& view) {
    ImGui::BeginChild("text", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(fonts().mono);
    const int64_t count = view.shape.size() == 2 ? whole_samples(view) : 1;
    ImGuiListClipper clipper;
    clipper.Begin(int(count));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        text_in(theme().faint, "%4d", i + 1);
        ImGui::SameLine();
        const std::string text = text_sample(view, i);
        ImGui::TextUnformatted(text.c_str());
        bench.description().add_last("data.text", text);
      }
    clipper.End();
    ImGui::PopFont();
    ImGui::EndChild();
  }

  void draw_rows(Workbench& bench, const ColumnView& view) const {
    const int64_t samples = std::min(whole_samples(view), kMostRows);
    const int64_t size = view.shape.empty() ? 1 : view.statistics.count / std::max<int64_t>(view.shape[0], 1);
    const int64_t columns = std::min(size, kMostColumns);
    if (samples == 0 || columns == 0) {
      draw_empty(view.statistics.count == 0 ? "An empty batch" : "A sample is too large",
                 view.statistics.count == 0 ? "This value has no elements."
                                            : "It has more numbers than the window copies.");
      return;
    }
    constexpr auto flags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                           ImGuiTableFlags_BordersInnerV;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (room.y < ImGui::GetTextLineHeight() * 2 || !ImGui::BeginTable("rows", int(columns) + 1, flags, room))
      return;
    ImGui::TableSetupScrollFreeze(1, 1);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_in(theme().faint, "sample");
    for (int64_t c = 0; c < columns; ++c) {
      ImGui::TableNextColumn();
      text_in(theme().faint, "%lld%s", static_cast<long long>(c + 1),
              c + 1 == columns && size > columns ? (" of " + count_figure(size)).c_str() : "");
    }
    ImGuiListClipper clipper;
    clipper.Begin(int(samples));
    while (clipper.Step())
      for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        text_in(theme().faint, "%d", r + 1);
        std::string said;
        for (int64_t c = 0; c < columns; ++c) {
          const std::string cell = cell_text(view, int64_t(r) * size + c);
          if (ImGui::TableNextColumn()) ImGui::TextUnformatted(cell.c_str());
          if (c < 8) said += (c ? " " : "") + cell;
        }
        bench.description().add_last("data.row", std::to_string(r + 1) + ": " + said);
      }
    ImGui::EndTable();
  }

  BatchProbe probe_;
  std::shared_ptr<const BatchView> view_;
  size_t column_ = 0;
  std::optional<BatchLook> look_;
  bool frozen_ = false;
  const ColumnView* sheet_of_ = nullptr;  // the column that the sheet shows
  PictureSheet sheet_;
  Texture texture_;
};

}  // namespace

std::unique_ptr<Panel> make_data_panel() { return std::make_unique<DataPanel>(); }

}  // namespace lunagrad
