#include "ui/actions/text_controller.h"

#include <algorithm>
#include <fstream>

#include "runtime/core/error.h"
#include "script/lua/source.h"

namespace lunagrad {

TextController::TextController(SessionControl& session, const Journal& journal, Shell& shell,
                               const std::function<void()>& wake)
    : session_(session), journal_(journal), shell_(shell), documents_({}, wake), syntax_(wake) {
  shell_.actions().add({"set_text", "file, text", [this](const ActionArguments& given) {
                          set_text(given.text(0, "file"), given.text(1, "text"));
                        }});
  shell_.actions().add(
      {"set_hot_reload", "on", [this](const ActionArguments& given) { hot_reload_ = given.flag(0, "on"); }});
}

// Sets the text as if the user had written and saved it. Throws if the file cannot be read.
void TextController::set_text(const std::string& file, const std::string& text) {
  Document* document = documents_.with_title(file);
  if (!document || !document->path.empty())
    document = stamp_of(file).exists() ? &documents_.open(file) : &documents_.create(file);
  document->buffer.reload(text);
  documents_.activate(*document);
  if (!document->path.empty()) save(*document);
}

// Records typed text as an action when it is saved or run.
void TextController::note_text(const Document& document, const std::string& file) {
  if (document.modified()) shell_.actions().note("set_text", {file, document.buffer.content()});
}

void TextController::update() {
  std::vector<std::string> changed;
  documents_.update(journal_.active() ? session_.files() : std::vector<std::string>(), changed);
  for (const std::string& path : changed) {
    shell_.write(ConsoleLine::Kind::note, path + " changed on the disk\n");
    reload_if_run(path);
  }
}

void TextController::show(const std::string& path) {
  try {
    documents_.open(path);
  } catch (const Error& error) {
    shell_.write(ConsoleLine::Kind::warning, std::string(error.what()) + "\n");
  }
}

void TextController::open_kept(const std::string& script) {
  if (!shell_.state_folder().empty()) documents_.keep_in(shell_.state_folder() + "/autosave");
  if (!script.empty()) show(script);
  const int restored = documents_.restore();
  if (restored > 0)
    shell_.notice(std::to_string(restored) + (restored == 1 ? " text" : " texts") +
                  " that had not been saved when the window ended are open again");
}

void TextController::go_to(const SourcePlace& place, int64_t step) {
  if (place.file.empty()) return;
  Document* document = documents_.with_title(place.file);
  try {
    if (!document) document = &documents_.open(place.file);
  } catch (const Error& error) {
    shell_.write(ConsoleLine::Kind::warning, std::string(error.what()) + "\n");
    return;
  }
  documents_.activate(*document);
  if (document->run_lines.empty() && !document->modified()) document->run_lines = lines_of(document->buffer);
  wanted_place_ = WantedPlace{place, step};
  shell_.show_panel("Editor");
}

void TextController::bring(const std::string& file) {
  Document* document = documents_.with_title(file);
  if (!document) document = documents_.find(file);
  if (!document && !stamp_of(file).exists()) return;  // a text without a file, as of the console
  try {
    if (!document) document = &documents_.open(file);
  } catch (const Error&) {  // the position names the file
    return;
  }
  documents_.activate(*document);
  if (document->run_lines.empty() && !document->modified()) document->run_lines = lines_of(document->buffer);
}

bool TextController::follow_pause() {
  if (journal_.pause() == pause_) return false;
  pause_ = journal_.pause();
  if (!pause_ || pause_->place.line < 1 || wanted_place_)
    return false;  // a line that was asked for goes first
  bring(pause_->place.file);
  return true;
}

std::vector<std::string> TextController::lines_of(const TextBuffer& buffer) {
  std::vector<std::string> lines;
  for (int i = 0; i < buffer.line_count(); ++i) lines.push_back(buffer.line(i));
  return lines;
}

void TextController::remember_run_lines() {
  for (size_t i = 0; i < documents_.count(); ++i)
    if (Document& document = documents_[i]; document.path.empty() || !document.modified())
      document.run_lines = lines_of(document.buffer);
}

void TextController::save_as(Document& document, const std::string& path, Documents::Saved saved) {
  shell_.actions().note("set_text", {path, document.buffer.content()});
  documents_.save_as(document, path, std::move(saved));
}

void TextController::save(Document& document, std::function<void()> saved) {
  note_text(document, document.path);
  const auto done = [this, id = document.id, saved = std::move(saved)](const std::string& error) {
    Document* text = documents_.with_id(id);
    if (!error.empty()) {
      if (text) text->reason = error;
      shell_.write(ConsoleLine::Kind::error, "not saved: " + error + "\n");
      return;
    }
    if (text) reload_if_run(text->path);
    if (saved) saved();
  };
  try {
    documents_.save(document, done);
  } catch (const Error& error) {
    done(error.what());
  }
}

// The user has to choose between two versions of the text: the file changed on the disk too, or the text was
// restored after a crash and the user has not looked at it yet.
bool TextController::is_undecided(const Document& document) {
  return document.trouble == Document::Trouble::conflict || document.trouble == Document::Trouble::restored;
}

bool TextController::keep_all() {
  for (size_t i = 0; i < documents_.count(); ++i)
    if (Document& document = documents_[i];
        !document.path.empty() && document.modified() && !is_undecided(document))
      save(document);
  documents_.keep_unsaved();
  documents_.settle();
  const std::string& folder = shell_.state_folder();
  for (size_t i = 0; i < documents_.count(); ++i)
    if (documents_[i].modified() && (folder.empty() || !documents_.autosave_trouble().empty())) {
      shell_.write(ConsoleLine::Kind::error,
                   documents_[i].title + " cannot be kept: " +
                       (folder.empty() ? std::string("it has no file, and nothing is kept between starts")
                                       : documents_.autosave_trouble()) +
                       "\n");
      return false;
    }
  return true;
}

// The reload takes effect at the end of the step. The session refuses a text that does not compile, and
// reports it.
void TextController::reload_if_run(const std::string& path) {
  // Saving a text does not continue a run that is being stopped.
  if (!hot_reload_ || !journal_.active() || journal_.state() == SessionState::stopping) return;
  for (const std::string& file : session_.files())
    if (same_file(file, path)) {
      session_.reload();
      SourcePlace place;
      const Document* document = documents_.find(path);
      if (document && !syntax_error(without_shebang(document->buffer.content()), "=text", place).empty())
        return;
      forget_sources();
      remember_run_lines();
      return;
    }
}

// The session runs the files on the disk, so modified texts are saved first. An undecided text is not saved.
bool TextController::save_before_run(std::function<void()> failed, std::function<void()> all_saved) {
  const auto done = [this, failed = std::move(failed), all_saved = std::move(all_saved)](
                        int id, const std::string& error) {
    --saving_;
    if (!error.empty()) {
      if (Document* text = documents_.with_id(id)) text->reason = error;
      failed();
      shell_.write(ConsoleLine::Kind::error, "not run, since not saved: " + error + "\n");
    }
    if (saving_ == 0) all_saved();
  };
  for (size_t i = 0; i < documents_.count(); ++i) {
    Document& document = documents_[i];
    if (document.path.empty()) note_text(document, document.title);
    if (document.path.empty() || !document.modified()) continue;
    if (is_undecided(document)) {
      shell_.write(
          ConsoleLine::Kind::warning,
          document.title +
              " is not saved: choose in the editor which version to keep. The version on disk runs.\n");
      continue;
    }
    note_text(document, document.path);
    ++saving_;
    try {
      documents_.save(document, [done, id = document.id](const std::string& error) { done(id, error); });
    } catch (const Error& error) {
      done(document.id, error.what());
    }
  }
  return saving_ == 0;
}

const std::string& TextController::source_line(const SourcePlace& place) {
  static const std::string none;
  if (place.file.empty() || place.line < 1) return none;
  auto [entry, fresh] = sources_.try_emplace(place.file);
  if (fresh) {
    std::ifstream file(place.file);
    for (std::string line; std::getline(file, line);) {
      line = printable(line);
      entry->second.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    }
  }
  return size_t(place.line) <= entry->second.size() ? entry->second[size_t(place.line) - 1] : none;
}

}  // namespace lunagrad
