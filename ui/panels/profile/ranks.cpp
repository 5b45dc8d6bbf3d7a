#include "ui/panels/profile/ranks.h"

#include <algorithm>
#include <array>
#include <span>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"
#include "ui/workbench/links.h"

namespace lunagrad {
namespace {

constexpr std::array<const char*, kRankTimes> kHelp = {
    "compute: the time of the script's thread, all but waits for other ranks.",
    "communication: the script waits for data that is on its way, after all ranks have come. What travels "
    "while it computes costs it nothing: the row of its transfers shows it, which a low panel leaves out.",
    "waiting: the script waits for a collective to which the slowest rank has not come yet, or to receive "
    "from a rank that has not sent yet."};

ImU32 color_of(RankTime time) {
  const Theme& t = theme();
  return time == RankTime::compute ? t.series[0] : time == RankTime::communication ? t.series[1] : t.faint;
}

// The colour of transfers, which need not make the script wait.
ImU32 pale(ImU32 color) { return blend(theme().canvas, color, 0.55f); }

std::string rank_name(size_t rank) { return "rank " + std::to_string(rank); }

// Breaks lines itself, since Dear ImGui would break a line after the decimal point of a number.
void wrapped(ImU32 color, const std::string& text) {
  const float room = ImGui::GetContentRegionAvail().x;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string longer = line + (line.empty() ? "" : " ") + text.substr(at, end - at);
    if (!line.empty() && ImGui::CalcTextSize(longer.c_str()).x > room) {
      text_in(color, "%s", line.c_str());
      line = text.substr(at, end - at);
    } else {
      line = longer;
    }
    at = end + 1;
  }
  text_in(color, "%s", line.c_str());
}

}  // namespace

void RanksView::make_rows(const RankProfile& profile, size_t steps, int slowest) {
  const std::span all(profile.steps);
  const std::span last = all.last(std::min(all.size(), steps));
  if (std::equal(last.begin(), last.end(), shown_.begin(), shown_.end()) && slowest_ == slowest &&
      dark_ == theme().dark)
    return;
  shown_.assign(last.begin(), last.end());
  slowest_ = slowest;
  dark_ = theme().dark;
  rows_.clear();
  sources_.clear();
  length_ns_ = 0;
  for (const auto& step : shown_) {
    rows_.resize(std::max(rows_.size(), 2 * step->lanes.size()));
    for (size_t i = 0; i < step->lanes.size(); ++i) {
      const RankLane& lane = step->lanes[i];
      const auto add = [&](TimeRow& row, double start, double length, ImU32 color, RankTime time,
                           int32_t transfer) {
        if (length <= 0) return;
        row.blocks.push_back({length_ns_ + start, length, color, int(sources_.size()), false});
        sources_.push_back({step.get(), i, time, transfer, length});
      };
      for (const RankLane::Block& block : lane.blocks)
        add(rows_[2 * i], block.start_ns, block.length_ns, color_of(block.time), block.time, block.transfer);
      for (size_t t = 0; t < lane.transfers.size(); ++t) {
        const RankTransfer& transfer = lane.transfers[t];
        if (transfer.pair) continue;  // may overlap other transfers; the script's row shows the wait for it
        add(rows_[2 * i + 1], transfer.begun_ns, transfer.met_ns - transfer.begun_ns,
            pale(color_of(RankTime::waiting)), RankTime::waiting, int32_t(t));
        add(rows_[2 * i + 1], transfer.met_ns, transfer.end_ns - transfer.met_ns,
            pale(color_of(RankTime::communication)), RankTime::communication, int32_t(t));
      }
    }
    length_ns_ += step->length_ns;
  }
  for (size_t i = 0; i < rows_.size(); i += 2) {
    rows_[i].name = rank_name(i / 2) + (int(i / 2) == slowest ? ", slowest" : "");
    rows_[i + 1].name = "   transfers";
  }
}

void RanksView::draw(Workbench& bench, const RankProfile& profile, size_t steps, bool all) {
  const std::span kept(profile.steps);
  const RankSums sums = all ? all_ranks(profile) : sum_ranks(kept.last(std::min(kept.size(), steps)));
  make_rows(profile, steps, sums.slowest);
  const std::string sentence = rank_sentence(sums);
  wrapped(sums.slowest >= 0 ? theme().warning : theme().text, sentence);
  bench.description().add_last("profiler.ranks", sentence);
  draw_legend(bench, sums);
  // Over the lanes the wheel zooms, elsewhere it scrolls.
  ImGui::BeginChild("ranks", {0, 0}, false, over_lanes_ ? ImGuiWindowFlags_NoScrollWithMouse : 0);
  draw_lanes(bench);
  draw_table(bench, sums);
  ImGui::EndChild();
}

// Draws the means over all ranks.
void RanksView::draw_legend(Workbench& bench, const RankSums& sums) {
  double whole = 0;
  std::array<double, kRankTimes> mean{};
  for (const auto& rank : sums.ns)
    for (size_t t = 0; t < kRankTimes; ++t) {
      mean[t] += rank[t];
      whole += rank[t];
    }
  for (size_t t = 0; t < kRankTimes; ++t) {
    const std::string share = std::string(rank_time_name(RankTime(t))) + " " +
                              number_figure(whole > 0 ? 100 * mean[t] / whole : 0, 2) + " %";
    if (t > 0) {
      ImGui::SameLine(0, em(1));
      if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(share.c_str()).x + em(1)) ImGui::NewLine();
    }
    color_box(color_of(RankTime(t)));
    text_in(theme().muted, "%s", share.c_str());
    bench.description().add_last("profiler.rank_time", share);
    explain(kHelp[t]);
  }
}

void RanksView::draw_lanes(Workbench& bench) {
  axis_.update(length_ns_);
  const auto label = [&](int id) {
    const Source& source = sources_[size_t(id)];
    if (source.transfer < 0 || source.time == RankTime::compute)
      return std::string(rank_time_name(source.time));
    const RankTransfer& transfer = source.step->lanes[source.lane].transfers[size_t(source.transfer)];
    if (source.time == RankTime::communication) return transfer.op;
    return transfer.last < 0 ? std::string("waiting") : "waits for " + rank_name(size_t(transfer.last));
  };
  const Theme& t = theme();
  const TimelineColors colors{t.canvas, t.grid, t.text, t.muted, t.bad, t.text};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  // If there is no space for all rows, only the scripts' rows are shown.
  const bool low = ImGui::GetContentRegionAvail().y < timeline_height(rows_.size());
  std::vector<TimeRow> scripts;
  for (size_t i = 0; low && i < rows_.size(); i += 2) scripts.push_back(rows_[i]);
  const std::span<const TimeRow> rows = low ? scripts : rows_;
  const TimelineHit hit =
      draw_timeline("lanes", rows, {width, timeline_height(rows.size())}, em(8), axis_, colors, label);
  over_lanes_ = ImGui::IsItemHovered();
  for (size_t i = 0; i < rows.size(); ++i)
    bench.description().add("profiler.rank",
                            rows[i].name + " " + count_figure(int64_t(rows[i].blocks.size())),
                            {at.x, at.y + float(i) * timeline_row_height()},
                            {at.x + width, at.y + float(i + 1) * timeline_row_height()});
  if (!hit.hovered) return;
  const Source& source = sources_[size_t(hit.id)];
  draw_tip(bench, source, hit);
  if (hit.clicked && source.transfer >= 0)
    go_to_line(bench, source.step->lanes[source.lane].transfers[size_t(source.transfer)].place);
}

void RanksView::draw_tip(Workbench& bench, const Source& source, const TimelineHit& hit) const {
  const RankLane& lane = source.step->lanes[source.lane];
  const std::string head = std::string(rank_time_name(source.time)) + ", " + rank_name(source.lane);
  begin_tip({.area = hit.area, .key = uint64_t(hit.id)}, head);
  ImGui::PushTextWrapPos(em(32));
  bold_text(head);
  ImGui::Text("%s in step %s", duration_figure(source.length_ns).c_str(),
              count_figure(source.step->step).c_str());
  std::string said = head;
  if (source.transfer >= 0) {
    const RankTransfer& transfer = lane.transfers[size_t(source.transfer)];
    std::string what = transfer.op;
    if (transfer.bytes > 0) what += ", " + bytes_figure(double(transfer.bytes));
    if (!transfer.label.empty()) what += ": " + transfer.label;
    ImGui::TextUnformatted(what.c_str());
    const double waited = transfer.met_ns - transfer.begun_ns;
    std::string times = duration_figure(transfer.end_ns - transfer.met_ns) + " on its way";
    if (transfer.last >= 0 && size_t(transfer.last) != source.lane)
      times += ", after " + duration_figure(waited) + " until " + rank_name(size_t(transfer.last)) + " came";
    else if (transfer.last >= 0)
      times += "; the others were there before this rank";
    text_in(theme().muted, "%s", times.c_str());
    if (transfer.place.line > 0)
      text_in(theme().muted, "%s:%d", transfer.place.file.c_str(), transfer.place.line);
    said += " " + what + " " + times;
  }
  if (lane.more > 0)
    text_in(theme().muted, "%s more transfers are left out.", count_figure(lane.more).c_str());
  ImGui::PopTextWrapPos();
  end_tip();
  bench.description().add_last("profiler.rank_tip", said);
}

void RanksView::draw_table(Workbench& bench, const RankSums& sums) {
  if (!ImGui::BeginTable(
          "times", int(kRankTimes) + 2,
          ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerV))
    return;
  ImGui::TableNextRow();
  for (const char* heading : {"rank", "compute", "communication", "waiting", "of a step"}) {
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", heading);
  }
  for (size_t i = 0; i < sums.ns.size(); ++i) {
    const ImU32 color = int(i) == sums.slowest ? theme().warning : theme().text;
    std::string row = rank_name(i);
    double whole = 0;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_in(color, "%zu", i);
    for (size_t t = 0; t <= kRankTimes; ++t) {
      const double ns = t < kRankTimes ? sums.ns[i][t] / double(std::max<int64_t>(sums.steps, 1)) : whole;
      whole += ns;
      ImGui::TableNextColumn();
      text_in(t == 0 ? color : theme().text, "%s", duration_figure(ns).c_str());
      if (t < kRankTimes) row += std::string(" ") + rank_time_name(RankTime(t)) + " " + duration_figure(ns);
    }
    bench.description().add_last("profiler.rank_row", row);
  }
  ImGui::EndTable();
}

}  // namespace lunagrad
