#include "ui/panels/tensor_pane.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/base/redraw.h"
#include "ui/window/outlined.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr int64_t kWrapFrom = 64;  // a longer vector is shown in several rows

// The number of columns of a vector that is shown in several rows: four times the number of rows.
int64_t wrap_of(const std::vector<int64_t>& shape) {
  if (shape.size() != 1 || shape[0] <= kWrapFrom) return 0;
  return std::max<int64_t>(32, int64_t(std::sqrt(double(shape[0]) * 4)));
}

// The position of an element of the slice in the tensor, in Lua's syntax.
std::string element_text(const SliceView& view, const SliceQuery& query, int64_t row, int64_t column) {
  if (view.shape.empty()) return "[]";
  std::vector<int64_t> at = query.at;
  at.resize(view.shape.size());
  if (view.row_dim >= 0) at[size_t(view.row_dim)] = row;
  if (view.column_dim >= 0)
    at[size_t(view.column_dim)] = view.row_dim >= 0 ? column : row * view.columns + column;
  return position_text(at);
}

// A combo box of texts with the one at `shown` selected; returns the clicked one, or -1.
int choose(Workbench& bench, const char* item, const std::string& label,
           const std::vector<std::string>& texts, int shown) {
  int chosen = -1;
  ImGui::PushID(item);
  if (ImGui::BeginCombo("##choice", label.c_str(), ImGuiComboFlags_HeightLarge)) {
    for (int i = 0; i < int(texts.size()); ++i) {
      if (ImGui::Selectable(texts[size_t(i)].c_str(), i == shown)) chosen = i;
      bench.description().add_last("inspector.dim_choice", texts[size_t(i)]);
    }
    ImGui::EndCombo();
  }
  ImGui::PopID();
  bench.description().add_last(item, label);
  return chosen;
}

// For values without statistics: only the extremes and zeros, which the colours need.
Statistics extremes(const std::vector<double>& values) {
  Statistics found;
  bool any = false;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    found.min = any ? std::min(found.min, value) : value;
    found.max = any ? std::max(found.max, value) : value;
    found.zeros += value == 0;
    any = true;
  }
  return found;
}

// Starts a new line when less than `width` is left on this one.
void next_item(float width) {
  ImGui::SameLine(0, em(0.4f));
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

}  // namespace

ValueColors value_colors() {
  const Theme& t = theme();
  return {t.canvas,
          t.border,
          t.text,
          t.muted,
          IM_COL32(255, 0, 200, 255),
          t.dark ? IM_COL32(255, 255, 255, 255) : IM_COL32(0, 0, 0, 255),
          t.accent,
          t.dark};
}

void SliceChoice::fit(const std::vector<int64_t>& its_shape) {
  if (its_shape == shape) return;
  if (its_shape.size() != shape.size()) {
    row_dim = column_dim = channel_dim = -1;
    at.assign(its_shape.size(), 1);
  }
  shape = its_shape;
  for (size_t d = 0; d < shape.size(); ++d)
    at[d] = std::clamp<int>(at[d], 1, std::max(1, int(std::min<int64_t>(shape[d], INT32_MAX))));
  first_tile = 1;
}

void draw_slice_controls(Workbench& bench, SliceChoice& choice, const std::string& dtype, int64_t tiles) {
  using Mode = SliceChoice::Mode;
  const auto mode = [&](const char* label, Mode its, const char* help) {
    if (tool_button(label, choice.mode == its)) choice.mode = its;
    bench.description().add_last("inspector.mode", std::string(label) + (choice.mode == its ? " on" : ""));
    explain(help);
  };
  mode("Cells", Mode::cells, "Each element as a coloured cell.");
  next_item(em(5));
  mode("Images", Mode::images,
       "Slices of two dims as pictures: images of a batch, filters of a convolution.");
  next_item(em(7));
  mode("Histogram", Mode::histogram,
       "Distribution of all elements. Bins are logarithmic, four per factor of 2; heights are square roots.");
  const int dims = int(choice.shape.size());
  if (choice.mode != Mode::histogram && dims > 2) {
    if (choice.row_dim < 0) choice.row_dim = dims - 2, choice.column_dim = dims - 1;
    std::vector<std::string> texts;
    std::vector<std::pair<int, int>> pairs;
    int shown = -1;
    for (int row = 0; row < dims; ++row)
      for (int column = 0; column < dims; ++column) {
        if (row == column) continue;
        if (row == choice.row_dim && column == choice.column_dim) shown = int(pairs.size());
        pairs.emplace_back(row, column);
        texts.push_back("dims " + std::to_string(row + 1) + " x " + std::to_string(column + 1));
      }
    next_item(em(7));
    ImGui::SetNextItemWidth(em(7));
    const int chosen = choose(bench, "inspector.plane", texts[size_t(shown)], texts, shown);
    explain("Dims of rows and columns.");
    if (chosen >= 0) std::tie(choice.row_dim, choice.column_dim) = pairs[size_t(chosen)];
  }
  if (choice.mode == Mode::cells && dims > 2) {
    for (int d = 0; d < dims; ++d) {
      if (d == choice.row_dim || d == choice.column_dim || choice.shape[size_t(d)] < 2) continue;
      next_item(em(7));
      ImGui::SetNextItemWidth(em(7));
      char format[64];
      std::snprintf(format, sizeof format, "dim %d: %%d of %lld", d + 1,
                    static_cast<long long>(choice.shape[size_t(d)]));
      ImGui::PushID(d);
      ImGui::SliderInt("##at", &choice.at[size_t(d)], 1,
                       int(std::min<int64_t>(choice.shape[size_t(d)], INT32_MAX)), format,
                       ImGuiSliderFlags_AlwaysClamp);
      ImGui::PopID();
      bench.description().add_last(
          "inspector.slice", "dim " + std::to_string(d + 1) + ": " + std::to_string(choice.at[size_t(d)]));
      explain("Position in this dim, from 1. Ctrl+click to type.");
    }
  }
  if (choice.mode == Mode::images) {
    if (dims > 2) {
      std::vector<std::string> texts{"RGB: none"};
      for (int d = 0; d < dims; ++d) texts.push_back("RGB: dim " + std::to_string(d + 1));
      next_item(em(7.5f));
      ImGui::SetNextItemWidth(em(7.5f));
      const int chosen = choose(bench, "inspector.channels", texts[size_t(choice.channel_dim + 1)], texts,
                                choice.channel_dim + 1);
      if (chosen >= 0) choice.channel_dim = chosen - 1;
      explain("The dim of size 3 that holds red, green and blue.");
    }
    next_item(em(6));
    if (tool_button("scale each", choice.normalize_each)) choice.normalize_each = !choice.normalize_each;
    bench.description().add_last("inspector.normalize", choice.normalize_each ? "each" : "all");
    explain("Scales each picture to its own range instead of a common one.");
    if (tiles > 1) {
      next_item(em(8));
      ImGui::SetNextItemWidth(em(8));
      choice.first_tile = std::clamp(choice.first_tile, 1, int(std::min<int64_t>(tiles, INT32_MAX)));
      char format[64];
      std::snprintf(format, sizeof format, "from %%d of %lld", static_cast<long long>(tiles));
      ImGui::SliderInt("##tile", &choice.first_tile, 1, int(std::min<int64_t>(tiles, INT32_MAX)), format,
                       ImGuiSliderFlags_AlwaysClamp);
      explain("The first picture that is shown.");
    }
  }
  if (dtype == "c64" || dtype == "c128") {
    next_item(em(8));
    ImGui::SetNextItemWidth(em(8));
    int part = int(choice.part);
    if (ImGui::Combo("##part", &part, "magnitude\0real part\0imaginary part\0"))
      choice.part = ComplexPart(part);
    explain("Part of complex numbers to show.");
  }
}

ValueProbe::Look TensorPane::look(const SliceChoice& choice) const {
  ValueProbe::Look look;
  SliceQuery& slice = look.slice;
  slice.row_dim = choice.row_dim;
  slice.column_dim = choice.column_dim;
  for (const int position : choice.at) slice.at.push_back(position - 1);
  slice.wrap = wrap_of(choice.shape);
  slice.part = choice.part;
  slice.most_rows = map_.most_rows();
  slice.most_columns = map_.most_columns();
  slice.first_row = map_.window().first_row;
  slice.first_column = map_.window().first_column;
  slice.rows = map_.window().rows;
  slice.columns = map_.window().columns;
  slice.pick = map_.picked();
  if (choice.mode == SliceChoice::Mode::images) {
    look.tiles.emplace();
    look.tiles->row_dim = choice.row_dim;
    look.tiles->column_dim = choice.column_dim;
    look.tiles->channel_dim = choice.channel_dim;
    look.tiles->first = choice.first_tile - 1;
  }
  return look;
}

TensorPlace TensorPane::place(const Workbench& bench) const {
  TensorPlace place = bench.inspection().place();
  place.which = gradient_ ? Which::gradient : Which::output;
  return place;
}

void TensorPane::draw_scale(Workbench& bench, const SliceView* view) {
  if (!ImGui::BeginPopup("scale")) return;
  bold_text("Colours");
  if (radio_button("range of the values", scale_.automatic)) scale_.automatic = true;
  explain("From the smallest to the largest finite value of the tensor.");
  if (radio_button("custom range", !scale_.automatic)) {
    if (scale_.automatic && view && view->has_statistics)
      scale_.low = view->statistics.min, scale_.high = view->statistics.max;
    scale_.automatic = false;
  }
  bench.description().add_last("inspector.manual", scale_.automatic ? "off" : "on");
  if (scale_.automatic) {
    float clip = float(scale_.clip);
    ImGui::SetNextItemWidth(em(10));
    if (ImGui::SliderFloat("clipped at each end", &clip, 0, 10, "%.1f %%")) scale_.clip = double(clip);
    explain("Per cent of values that share the end colours, so that outliers do not hide the rest.");
  } else {
    ImGui::SetNextItemWidth(em(8));
    ImGui::InputDouble("least", &scale_.low, 0, 0, "%.6g");
    ImGui::SetNextItemWidth(em(8));
    ImGui::InputDouble("greatest", &scale_.high, 0, 0, "%.6g");
  }
  ImGui::Separator();
  int map = int(scale_.map);
  ImGui::SetNextItemWidth(em(12));
  if (ImGui::Combo("colours", &map, "by the values\0one direction\0both sides of 0\0"))
    scale_.map = ColorScale::Map(map);
  explain("By the values: two colours with neutral 0 for both signs, otherwise viridis.");
  tick_box("logarithmic", &scale_.logarithmic);
  bench.description().add_last("inspector.logarithmic", scale_.logarithmic ? "on" : "off");
  explain("Logarithmic colours; linear below a ten-thousandth of the largest value.");
  ImGui::EndPopup();
}

// A value that has to be recomputed takes as long as a step of the run.
void TensorPane::draw_waiting(Workbench& bench) const {
  const float radius = 0.4f * ImGui::GetTextLineHeight(), from = float(ImGui::GetTime()) * 5;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->PathArcTo({at.x + radius, at.y + 0.5f * ImGui::GetTextLineHeight()}, radius, from, from + 4.2f, 20);
  list->PathStroke(theme().accent, 0, em(0.12f));
  ImGui::Dummy({2 * radius, ImGui::GetTextLineHeight()});
  ImGui::SameLine(0, em(0.4f));
  text_in(theme().muted, "Computing…");
  bench.description().add_last("inspector.waiting", heading_);
  draw_again_in(kAnimation);
}

void TensorPane::draw_heading(Workbench& bench, const SliceChoice& choice, const SliceView* view,
                              const std::string& tensor_name) {
  bold_text(heading_);
  if (!view || !view->available) return;
  const std::string shown =
      shape_text(view->shape) + " " + view->dtype + (view->device == "cpu" ? "" : " " + view->device);
  ImGui::SameLine(0, em(0.6f));
  text_in(theme().muted, "%s", shown.c_str());
  explain(("Shape and type of the elements; they are on " + view->device + ".").c_str());
  ImGui::PushID(heading_);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {em(0.35f), 0});
  // The buttons stay together, in this line or below. Value and gradient, side by side, break their lines
  // alike.
  const float each = em(3.2f), all = 3 * each + 2 * em(0.4f);
  ImGui::PushFont(fonts().bold);
  const float longer = ImGui::CalcTextSize("Gradient").x - ImGui::CalcTextSize(heading_).x;
  ImGui::PopFont();
  next_item(all + std::max(longer, 0.0f));
  bool first = true;
  const auto item = [&](const char* label, const char* name, const char* help, float width) {
    if (!std::exchange(first, false)) next_item(width);
    const bool pressed = ImGui::Button(label);
    bench.description().add_last(name, heading_);
    explain(help);
    return pressed;
  };
  if (item("Scale", "inspector.scale", "How values become colours.", each)) ImGui::OpenPopup("scale");
  if (item("Copy", "inspector.copy", "Copies the slice as text.", each)) ImGui::OpenPopup("copy");
  if (item("Save", "inspector.save", "The whole tensor as a NumPy file.", each)) {
    std::string name = "step" + std::to_string(bench.inspection().place().step) + "-" + tensor_name +
                       (gradient_ ? "-gradient" : "");
    for (char& c : name)
      if (c == '/' || c == ' ' || c == '[' || c == ']') c = '_';
    const std::string folder = bench.journal().run_folder();
    std::snprintf(path_, sizeof path_, "%s%s%s.npy", folder.c_str(), folder.empty() ? "" : "/", name.c_str());
    ImGui::OpenPopup("save");
  }
  if (!map_.window().whole() && item("All", "inspector.all", "Shows the whole slice.", em(2.5f)))
    map_.show_all();
  ImGui::PopStyleVar();
  draw_scale(bench, view);
  if (ImGui::BeginPopup("copy")) {
    SliceQuery slice = look(choice).slice;
    for (const auto& [label, format] :
         {std::pair("as Lua", SliceFormat::lua), std::pair("as CSV", SliceFormat::csv)}) {
      if (ImGui::Selectable(label)) bench.inspection().copy(place(bench), slice, format);
      bench.description().add_last("inspector.copy_as", label);
    }
    ImGui::EndPopup();
  }
  if (ImGui::BeginPopup("save")) {
    ImGui::TextUnformatted("Save the whole tensor as a NumPy file:");
    ImGui::SetNextItemWidth(em(28));
    const bool entered =
        ImGui::InputText("##path", path_, sizeof path_, ImGuiInputTextFlags_EnterReturnsTrue);
    bench.description().add_last("inspector.path", path_);
    const bool pressed = ImGui::Button("Save");
    bench.description().add_last("inspector.save_now", path_);
    if (entered || pressed) {
      bench.inspection().save(place(bench).which, path_);
      ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
  }
  ImGui::PopID();
}

// Uses as few lines as possible; the tooltip has more digits.
void TensorPane::draw_statistics(Workbench& bench, const SliceView& view) {
  if (view.statistics_follow) {
    text_in(theme().muted, "counting %lld elements…", static_cast<long long>(view.count));
    bench.description().add_last("inspector.counting", heading_);
    explain("Counting takes a while; until then colours span the visible cells.");
  }
  if (!view.has_statistics || view.count == 0) return;
  const Statistics& s = view.statistics;
  const auto figure = [](const char* format, double value) {
    char text[48];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  const int64_t odd = s.nans + s.infinities + s.negative_infinities;
  const float end = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  ImGui::BeginGroup();
  if (odd > 0) {
    std::string text;
    for (const auto& [count, name] :
         {std::pair{s.nans, " NaN"}, {s.infinities, " +Inf"}, {s.negative_infinities, " -Inf"}})
      if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + name;
    text_in(theme().bad, "%s", text.c_str());
    bench.description().add_last("inspector.not_finite", text);
  }
  std::vector<std::string> figures;
  if (s.finite() == 0) {
    figures.push_back("no finite values");
  } else {
    figures.push_back(figure("min %.3g", s.min) + figure("  max %.3g", s.max));
    figures.push_back(figure("mean %.3g", s.mean));
    figures.push_back(figure("std %.3g", s.std));
    figures.push_back(figure("zeros %.3g %%", 100 * double(s.zeros) / double(view.count)));
  }
  std::string line;
  for (const std::string& part : figures) {
    if (odd > 0 || !line.empty())
      if (ImGui::GetItemRectMax().x + em(0.6f) + ImGui::CalcTextSize(part.c_str()).x <= end)
        ImGui::SameLine(0, em(0.6f));
    line += (line.empty() ? "" : "  ") + part;
    text_in(theme().muted, "%s", part.c_str());
  }
  ImGui::EndGroup();
  bench.description().add_last("inspector.statistics", std::string(heading_) + " " + line);
  std::string all =
      "Over " + counted(view.count, "element") + "; min, max, mean and std over the finite ones.\n";
  if (s.finite() > 0)
    all += figure("min %.9g\n", s.min) + figure("max %.9g\n", s.max) + figure("mean %.9g\n", s.mean) +
           figure("std %.9g", s.std) + ", dividing by their number less one\n" +
           figure("norm %.9g\n", s.norm);
  all += "zeros " + std::to_string(s.zeros) + "\nNaN " + std::to_string(s.nans) + "\n+Inf " +
         std::to_string(s.infinities) + "\n-Inf " + std::to_string(s.negative_infinities);
  if (odd > 0) all += "\nCrossed cells are NaN; a stroke marks Inf, upwards for +.";
  explain(all.c_str());
}

void TensorPane::draw_cells(Workbench& bench, const SliceView& view) {
  const ValueColors colors = value_colors();
  const HeatCells cells{view.rows,         view.columns,    view.elements,      view.first_row,
                        view.first_column, view.shown_rows, view.shown_columns, view.cell_rows,
                        view.cell_columns, view.cells,      revision_};
  ColorScale scale = scale_;
  if (!view.has_statistics) scale.clip = 0;  // without statistics outliers are unknown
  const ColorRange range = color_range(scale, view.has_statistics ? view.statistics : extremes(view.cells));
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const SliceQuery query = gradient_ ? bench.inspection().probe().gradient_look.slice
                                     : bench.inspection().probe().value_look.slice;
  const auto index = [&](int64_t row, int64_t column) { return element_text(view, query, row, column); };
  map_.draw(heading_, cells, range, {room.x - 2, std::max(room.y - line - 2, em(1.5f))}, colors, index);
  bench.description().add_last(gradient_ ? "inspector.gradient_cells" : "inspector.cells",
                               shape_text(view.shape));
  draw_color_legend(range, std::min(room.x, em(12)), colors);
  explain(scale_.logarithmic ? "Colours by magnitude, logarithmic." : "Colours, linear. Scale changes them.");
  if (map_.tip())
    bench.description().add("inspector.tip", map_.tip()->text, map_.tip()->area.min, map_.tip()->area.max);
  // Next to the colour legend: the selected element, or how to select one if that fits, and which part is
  // shown.
  const auto beside = [&](ImU32 color, const std::string& text) {
    ImGui::SameLine(0, em(0.6f));
    text_in(color, "%s", text.c_str());
  };
  std::string part;
  if (!map_.window().whole())
    part = "rows " + std::to_string(view.first_row + 1) + " to " +
           std::to_string(view.first_row + view.shown_rows) + ", columns " +
           std::to_string(view.first_column + 1) + " to " +
           std::to_string(view.first_column + view.shown_columns);
  if (view.every > 1)
    part += (part.empty() ? "" : "; ") + std::string("one of ") + std::to_string(view.every) +
            " elements looked at";
  if (map_.picked() && view.pick == map_.picked()) {
    const std::string place = index(map_.picked()->first, map_.picked()->second),
                      picked = place + " = " + view.picked;
    if (!parameter_.empty()) {  // before the text, which may be cut off
      ImGui::SameLine(0, em(0.6f));
      if (ImGui::SmallButton("Edit...")) changes_.ask_element(parameter_, place, view.picked);
      bench.description().add_last("inspector.edit", parameter_);
      explain(
          "Changes this element of the running model. Its picture shows the step, which stays as it was.");
    }
    beside(theme().accent, picked);
    bench.description().add_last("inspector.picked", picked);
    explain((picked + "\nThe selected element. Arrow keys move.").c_str());
  } else if (!map_.picked() && part.empty()) {
    const float free = room.x - ImGui::GetItemRectSize().x - em(0.6f);
    for (const char* hint : {"click: value; wheel: zoom; drag: pan", "click a cell for its value"}) {
      if (free < ImGui::CalcTextSize(hint).x) continue;
      beside(theme().faint, hint);
      explain("Wheel: zoom. Drag: pan. Double-click: all. Click or arrow keys: select an element.");
      break;
    }
  }
  if (part.empty()) return;
  beside(theme().muted, part);
  bench.description().add_last("inspector.part", part);
  explain(part.c_str());
}

void TensorPane::draw_images(Workbench& bench, const SliceView& view, const TileView* tiles,
                             const SliceChoice& choice) {
  if (!tiles || !tiles->available) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().muted, "%s", tiles ? tiles->reason.c_str() : "reading…");
    ImGui::PopTextWrapPos();
    return;
  }
  const ImageTiles shown{tiles->shown,    tiles->pixel_rows, tiles->pixel_columns,
                         tiles->channels, tiles->pixels,     revision_};
  const auto label = [&](int64_t tile) {
    std::vector<std::string> parts(view.shape.size(), ":");
    size_t next = 0;
    const int dims = int(view.shape.size());
    const int row = choice.row_dim < 0 ? dims - 2 : choice.row_dim,
              column = choice.column_dim < 0 ? dims - 1 : choice.column_dim;
    const auto& at = tiles->at[size_t(tile)];
    for (int d = 0; d < dims && next < at.size(); ++d)
      if (d != row && d != column && !(tiles->channels == 3 && d == choice.channel_dim))
        parts[size_t(d)] = std::to_string(at[next++] + 1);
    std::string text = "[";
    for (size_t d = 0; d < parts.size(); ++d) text += (d ? ", " : "") + parts[d];
    return text + "]";
  };
  const int64_t fitted = images_.draw(heading_, shown, choice.normalize_each, ImGui::GetContentRegionAvail(),
                                      value_colors(), label);
  bench.description().add_last("inspector.images", std::string(heading_) + " " + std::to_string(fitted) +
                                                       " of " + std::to_string(tiles->tiles));
}

// Offers a way to get a value that is not kept.
void TensorPane::draw_remedy(Workbench& bench, const std::string& reason) {
  if (ShownStep& shown = bench.shown(); shown.lacks_values(shown.step())) {
    if (ImGui::Button("Repeat the step")) shown.repeat(shown.step());
    bench.description().add_last("inspector.repeat", item_);
    explain("Repeats the run up to this step, beside it, for its values.");
  } else if (reason.starts_with("Not captured")) {
    if (ImGui::Button("Capture next step")) bench.commands().run("Step one iteration");
    bench.description().add_last("inspector.capture", item_);
    explain("Runs one step and keeps its values. F8.");
  } else if (reason.find("the budget is ") != std::string::npos) {
    if (ImGui::Button("Raise")) bench.shown().set_memory_budget(2 * bench.shown().memory_budget());
    bench.description().add_last("inspector.raise", item_);
    explain("Doubles the memory budget of kept steps. The next captured step uses it.");
  }
}

float TensorPane::least_height() const { return texts_ + em(2.2f) + ImGui::GetTextLineHeightWithSpacing(); }

void TensorPane::draw(Workbench& bench, const SliceChoice& choice, const std::string& tensor_name,
                      const std::string& parameter) {
  parameter_ = parameter;
  changes_.draw_field(bench);
  const auto view = gradient_ ? bench.inspection().probe().gradient() : bench.inspection().probe().value();
  const auto tiles =
      gradient_ ? bench.inspection().probe().gradient_tiles() : bench.inspection().probe().value_tiles();
  if (view != slice_ || tiles != tiles_) ++revision_;
  slice_ = view;
  tiles_ = tiles;
  draw_heading(bench, choice, view.get(), tensor_name);
  if (!view) {
    draw_waiting(bench);
    return;
  }
  if (!view->available) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().muted, "%s", view->reason.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last(item_, view->reason);
    draw_remedy(bench, view->reason);
    return;
  }
  if (!view->note.empty()) {
    ImGui::PushTextWrapPos(0);
    text_in(theme().warning, "%s", view->note.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("inspector.note", view->note);
  }
  draw_statistics(bench, *view);
  texts_ = ImGui::GetCursorPosY();
  ImGui::BeginGroup();
  if (view->count == 0) {
    text_in(theme().muted, "no elements");
  } else if (view->count == 1) {
    ImGui::PushFont(fonts().bold);
    const bool finite = std::isfinite(view->cells[0]);
    text_in(finite ? theme().text : theme().bad, "%s", number_figure(view->cells[0], 9).c_str());
    ImGui::PopFont();
  } else if (choice.mode == SliceChoice::Mode::histogram) {
    if (view->has_statistics)
      draw_histogram(heading_, view->statistics, ImGui::GetContentRegionAvail(), value_colors());
  } else if (choice.mode == SliceChoice::Mode::images) {
    draw_images(bench, *view, tiles.get(), choice);
  } else {
    draw_cells(bench, *view);
  }
  ImGui::EndGroup();
  std::string described = shape_text(view->shape);
  if (view->count == 0)
    described += " no elements";
  else if (view->has_statistics)
    described +=
        " min " + number_figure(view->statistics.min) + " max " + number_figure(view->statistics.max);
  bench.description().add_last(item_, described);
}

void TensorPane::follow(const TensorPane& other) { map_.follow(other.map_); }

}  // namespace lunagrad
