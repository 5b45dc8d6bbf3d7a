// What the workbench does with texts and their files: shows places in them, saves, runs what is saved, and hands changes to
// the script that runs.
#include "runtime/error.h"
#include "script/source.h"
#include "ui/workbench.h"

namespace lunagrad {

void Workbench::show_text(const std::string& path) {
  try {
    documents.open(path);
  } catch (const Error& error) {
    journal.write(ConsoleLine::Kind::warning, std::string(error.what()) + "\n");
  }
}

void Workbench::open_texts() {
  if (!state_folder.empty()) documents.keep_in(state_folder + "/autosave");
  if (!script_.empty()) show_text(script_);
  const int restored = documents.restore();
  if (restored > 0)
    notice(std::to_string(restored) + (restored == 1 ? " text" : " texts") +
           " that had not been saved when the window ended are open again");
}

void Workbench::go_to(const SourcePlace& place) {
  if (place.file.empty()) return;
  Document* document = documents.with_title(place.file);
  try {
    if (!document) document = &documents.open(place.file);
  } catch (const Error& error) {
    journal.write(ConsoleLine::Kind::warning, std::string(error.what()) + "\n");
    return;
  }
  documents.activate(*document);
  if (document->run_lines.empty() && !document->modified()) document->run_lines = lines_of(document->buffer);
  wanted_place_ = place;
  show_panel("Editor");
}

std::vector<std::string> Workbench::lines_of(const TextBuffer& buffer) {
  std::vector<std::string> lines;
  for (int i = 0; i < buffer.line_count(); ++i) lines.push_back(buffer.line(i));
  return lines;
}

void Workbench::remember_run_lines() {
  for (size_t i = 0; i < documents.count(); ++i)
    if (Document& document = documents[i]; document.path.empty() || !document.modified())
      document.run_lines = lines_of(document.buffer);
}

bool Workbench::save(Document& document) {
  try {
    documents.save(document);
  } catch (const Error& error) {
    document.reason = error.what();
    journal.write(ConsoleLine::Kind::error, "not saved: " + document.reason + "\n");
    return false;
  }
  reload_if_run(document.path);
  return true;
}

// Takes effect at the end of the step. The session refuses what does not compile, and says so.
void Workbench::reload_if_run(const std::string& path) {
  if (!hot_reload || !journal.active()) return;
  for (const std::string& file : session.files())
    if (same_file(file, path)) {
      session.reload();
      SourcePlace place;
      const Document* document = documents.find(path);
      if (document && !syntax_error(without_shebang(document->buffer.content()), "=text", place).empty()) return;
      sources_.clear();
      remember_run_lines();
      return;
    }
}

// What runs is what is on the disk: so that goes there first. A text that differs from a file which somebody else changed,
// or that nobody has seen since it was restored, is left alone.
bool Workbench::save_before_run() {
  for (size_t i = 0; i < documents.count(); ++i) {
    Document& document = documents[i];
    if (document.path.empty() || !document.modified()) continue;
    const bool unsure =
        document.trouble == Document::Trouble::conflict || document.trouble == Document::Trouble::restored;
    if (unsure) {
      journal.write(ConsoleLine::Kind::warning,
                    document.title + " is not saved: the editor asks which text is to stay; what is on the disk runs\n");
      continue;
    }
    try {
      documents.save(document);
    } catch (const Error& error) {
      document.reason = error.what();
      journal.write(ConsoleLine::Kind::error, "not run, since not saved: " + document.reason + "\n");
      return false;
    }
  }
  return true;
}

void Workbench::update_documents() {
  std::vector<std::string> changed;
  documents.update(journal.active() ? session.files() : std::vector<std::string>(), changed);
  for (const std::string& path : changed) {
    journal.write(ConsoleLine::Kind::note, path + " changed on the disk\n");
    reload_if_run(path);
  }
}

}  // namespace lunagrad
