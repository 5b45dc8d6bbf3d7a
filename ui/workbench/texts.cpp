// What the workbench does with texts and their files: shows places in them, saves, runs what is saved, and
// hands changes to the script that runs.
#include "runtime/error.h"
#include "script/lua/source.h"
#include "ui/workbench/workbench.h"

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

void Workbench::save(Document& document, std::function<void()> saved) {
  const auto done = [this, id = document.id, saved = std::move(saved)](const std::string& error) {
    Document* text = documents.with_id(id);
    if (!error.empty()) {
      if (text) text->reason = error;
      journal.write(ConsoleLine::Kind::error, "not saved: " + error + "\n");
      return;
    }
    if (text) reload_if_run(text->path);
    if (saved) saved();
  };
  try {
    documents.save(document, done);
  } catch (const Error& error) {
    done(error.what());
  }
}

// Changed by somebody else too, or seen by nobody since it was restored.
bool Workbench::is_undecided(const Document& document) const {
  return document.trouble == Document::Trouble::conflict || document.trouble == Document::Trouble::restored;
}

bool Workbench::keep_texts() {
  for (size_t i = 0; i < documents.count(); ++i)
    if (Document& document = documents[i];
        !document.path.empty() && document.modified() && !is_undecided(document))
      save(document);
  documents.keep_unsaved();
  documents.settle();
  for (size_t i = 0; i < documents.count(); ++i)
    if (documents[i].modified() && (state_folder.empty() || !documents.autosave_trouble().empty())) {
      journal.write(
          ConsoleLine::Kind::error,
          documents[i].title + " cannot be kept: " +
              (state_folder.empty() ? std::string("it has no file, and nothing is kept between starts")
                                    : documents.autosave_trouble()) +
              "\n");
      return false;
    }
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
      if (document && !syntax_error(without_shebang(document->buffer.content()), "=text", place).empty())
        return;
      sources_.clear();
      remember_run_lines();
      return;
    }
}

// What runs is what is on the disk: so that goes there first. A text that nobody has decided about is left
// alone.
bool Workbench::save_before_run() {
  const auto done = [this](int id, const std::string& error) {
    --saving_;
    if (!error.empty()) {
      if (Document* text = documents.with_id(id)) text->reason = error;
      awaited_ = Awaited::nothing;
      journal.write(ConsoleLine::Kind::error, "not run, since not saved: " + error + "\n");
    }
    if (saving_ == 0 && awaited_ != Awaited::nothing) begin_run();
  };
  for (size_t i = 0; i < documents.count(); ++i) {
    Document& document = documents[i];
    if (document.path.empty() || !document.modified()) continue;
    if (is_undecided(document)) {
      journal.write(ConsoleLine::Kind::warning,
                    document.title +
                        " is not saved: the editor asks which text is to stay; what is on the disk runs\n");
      continue;
    }
    ++saving_;
    try {
      documents.save(document, [done, id = document.id](const std::string& error) { done(id, error); });
    } catch (const Error& error) {
      done(document.id, error.what());
    }
  }
  return saving_ == 0 && awaited_ != Awaited::nothing;
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
