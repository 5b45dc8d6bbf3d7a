#include "ui/panels/tape/export_menu.h"

#include <cstdio>
#include <utility>

#include "runtime/error.h"
#include "runtime/io/atomic_file.h"
#include "script/view/tape_json.h"
#include "ui/tape/export.h"
#include "ui/window/theme.h"

namespace lunagrad {

void TapeExportMenu::open(const Workbench& bench) {
  const std::string& folder = bench.journal().run_folder();
  std::snprintf(path_, sizeof path_, "%s%stape-%lld", folder.c_str(), folder.empty() ? "" : "/",
                static_cast<long long>(bench.tape().tape()->step));
  outcome_.clear();
  ImGui::OpenPopup("export");
}

void TapeExportMenu::draw(Workbench& bench, const GraphCanvas::Colors& colors) {
  if (ImGui::Button("Export")) open(bench);
  bench.description().add_last("tape.export", "");
  explain("Writes the tape as DOT, SVG, PNG or JSON.");
  if (!ImGui::BeginPopup("export")) return;
  ImGui::SetNextItemWidth(em(32));
  ImGui::InputText("##path", path_, sizeof path_);
  bench.description().add_last("tape.path", path_);
  explain("Path without extension, relative to where Lunagrad was started.");
  const auto button = [&](const char* kind, const char* help) {
    const bool pressed = ImGui::Button(kind);
    bench.description().add_last("tape.write", kind);
    explain(help);
    ImGui::SameLine(0, em(0.4f));
    return pressed;
  };
  const std::string path = path_;
  const TapeSnapshot& tape = *bench.tape().tape();
  if (button("DOT", "Every node, for Graphviz."))
    attempt(bench, path + ".dot", [&] { return tape_as_dot(tape); });
  if (button("SVG", "The whole tape as laid out."))
    attempt(bench, path + ".svg", [&] { return picture_as_svg(bench.tape().picture()->canvas, colors); });
  if (bench.shell().can_take_picture() && button("PNG", "What the panel shows.")) {
    wanted_picture_ = path + ".png";
    ImGui::CloseCurrentPopup();
  }
  if (button("JSON", "Every node with all fields."))
    attempt(bench, path + ".json", [&] { return tape_json(tape); });
  ImGui::NewLine();
  if (!outcome_.empty()) {
    ImGui::PushTextWrapPos(em(25));
    ImGui::TextUnformatted(outcome_.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("tape.written", outcome_);
  }
  ImGui::EndPopup();
}

void TapeExportMenu::attempt(Workbench& bench, const std::string& file,
                             const std::function<std::string()>& content) {
  try {
    write_file(file, content());
    outcome_ = "wrote " + file;
    bench.shell().write(ConsoleLine::Kind::note, "the tape is in " + file + "\n");
  } catch (const Error& error) {
    outcome_ = error.what();
    bench.shell().write(ConsoleLine::Kind::error, outcome_ + "\n");
  }
}

void TapeExportMenu::take_picture(Workbench& bench, ImVec2 min, ImVec2 max) {
  if (wanted_picture_.empty() ||
      ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
    return;
  const std::string file = std::exchange(wanted_picture_, {});
  bench.shell().take_picture(file, min, max, [&bench, file](const std::string& problem) {
    if (problem.empty())
      bench.shell().write(ConsoleLine::Kind::note, "the tape is in " + file + "\n");
    else
      bench.shell().write(ConsoleLine::Kind::error, problem + "\n");
  });
}

}  // namespace lunagrad
