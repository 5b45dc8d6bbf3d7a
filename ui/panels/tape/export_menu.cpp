#include "ui/panels/tape/export_menu.h"

#include <cstdio>
#include <utility>

#include "runtime/core/error.h"
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

void TapeExportMenu::add_action(Workbench& bench, std::function<GraphCanvas::Colors()> colors) {
  const auto lacks = [&bench](const ActionArguments&) -> std::string {
    return bench.tape().tape() && bench.tape().picture() ? "" : "there is no tape";
  };
  bench.actions().add({"export_tape", "path",
                       [this, &bench, colors = std::move(colors), lacks](const ActionArguments& given) {
                         const std::string& path = given.text(0, "path");
                         if (const std::string why = lacks(given); !why.empty()) given.refuse(why);
                         const TapeSnapshot& tape = *bench.tape().tape();
                         if (path.ends_with(".dot"))
                           write(bench, path, tape_as_dot(tape));
                         else if (path.ends_with(".svg"))
                           write(bench, path, picture_as_svg(bench.tape().picture()->canvas, colors()));
                         else if (path.ends_with(".json"))
                           write(bench, path, tape_json(tape));
                         else if (path.ends_with(".png") && bench.shell().can_take_picture())
                           wanted_picture_ = path;
                         else
                           given.refuse("path must end in .dot, .svg, .json or .png, got \"" + path + '"');
                       },
                       lacks});
}

void TapeExportMenu::draw(Workbench& bench) {
  if (ImGui::Button("Export") || std::exchange(opens_, false)) open(bench);
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
  const auto save_as = [&](const char* extension) {
    bench.actions().act("export_tape", {std::string(path_) + extension});
  };
  if (button("DOT", "Every node, for Graphviz.")) save_as(".dot");
  if (button("SVG", "The whole tape as laid out.")) save_as(".svg");
  if (bench.shell().can_take_picture() && button("PNG", "What the panel shows.")) {
    save_as(".png");
    ImGui::CloseCurrentPopup();
  }
  if (button("JSON", "Every node with all fields.")) save_as(".json");
  ImGui::NewLine();
  if (!outcome_.empty()) {
    ImGui::PushTextWrapPos(em(25));
    ImGui::TextUnformatted(outcome_.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("tape.written", outcome_);
  }
  ImGui::EndPopup();
}

void TapeExportMenu::write(Workbench& bench, const std::string& file, const std::string& content) {
  outcome_.clear();
  try {
    write_file(file, content);
  } catch (const Error& error) {
    outcome_ = error.what();
    throw;
  }
  outcome_ = "wrote " + file;
  bench.shell().write(ConsoleLine::Kind::note, "the tape is in " + file + "\n");
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
