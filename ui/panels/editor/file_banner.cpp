#include "ui/panels/editor/file_banner.h"

#include <string>

#include "ui/editor/documents.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

void say(Workbench& bench, const std::string& sentence) {
  ImGui::PushTextWrapPos(0);
  text_in(theme().warning, "%s", sentence.c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last("editor.banner", sentence);
}

bool banner_button(Workbench& bench, const char* label) {
  const bool pressed = ImGui::Button(label);
  bench.description().add_last("editor.banner.button", label);
  ImGui::SameLine();
  return pressed;
}

}  // namespace

void FileBanner::draw_question(Workbench& bench, Document& document, const Save& save) {
  say(bench, document.title + " has unsaved changes.");
  if (banner_button(bench, "Save and close")) {
    closing_ = 0;
    save(document, [&bench, id = document.id] {
      if (Document* saved = bench.texts().documents().with_id(id)) bench.texts().documents().close(*saved);
    });
  }
  const bool lost = banner_button(bench, "Close without saving");
  if (banner_button(bench, "Keep open")) closing_ = 0;
  ImGui::NewLine();
  if (lost) {
    closing_ = 0;
    bench.texts().documents().close(document);
  }
}

void FileBanner::draw(Workbench& bench, Document& document, const Save& save) {
  if (closing_ == document.id) return draw_question(bench, document, save);
  switch (document.trouble) {
    case Document::Trouble::conflict:
      say(bench, document.title + " was changed on disk and here. Which version to keep?");
      if (banner_button(bench, "Disk version")) bench.texts().documents().take_from_disk(document);
      if (banner_button(bench, "My version")) bench.texts().documents().keep_mine(document);
      ImGui::NewLine();
      break;
    case Document::Trouble::gone:
      say(bench, "The file can no longer be read (" + document.reason + "). Saving writes it again.");
      break;
    case Document::Trouble::restored:
      say(bench, "Restored from an unsaved text. The file on disk may differ.");
      if (banner_button(bench, "Save it")) save(document, {});
      if (!document.path.empty() && banner_button(bench, "Load from disk"))
        bench.texts().documents().take_from_disk(document);
      ImGui::NewLine();
      break;
    case Document::Trouble::none:
      if (!document.reason.empty()) say(bench, "Not saved: " + document.reason);
      break;
  }
}

}  // namespace lunagrad
