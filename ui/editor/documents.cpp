#include "ui/editor/documents.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

constexpr auto kBetweenLooks = std::chrono::milliseconds(500);
constexpr auto kBetweenKeeping = std::chrono::seconds(2);

// Reads a file as text that an editor can show.
std::string read_text(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_as(ErrorKind::file, path, ": ", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail_as(ErrorKind::file, path, ": ", std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) fail_as(ErrorKind::file, path, ": is no regular file");
  if (status.st_size > Documents::kLargest)
    fail_as(ErrorKind::file, path, ": has ", status.st_size >> 20, " MiB, the editor takes ",
            Documents::kLargest >> 20);
  return read_file(path);
}

bool may_write(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return true;
  return (status.st_mode & 0222) != 0 && ::access(path.c_str(), W_OK) == 0;
}

// The target of a symbolic link, so that saving keeps the link.
std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

// Returns an error text, or "".
std::string write_text(const std::string& path, const std::string& content) {
  try {
    write_file(path, content);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, uint64_t(status.st_ino)};
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == b) return true;
  std::error_code error;
  return !a.empty() && !b.empty() && fs::equivalent(a, b, error);
}

Document Document::other_text(std::string_view content) const {
  static int last_id = 0;
  Document other;
  other.id = --last_id;
  other.path = path;
  other.title = title;
  other.buffer.load(content);
  other.saved_ = other.kept_ = other.buffer.state();
  other.read_only = true;
  return other;
}

Documents::Documents(const std::string& autosave_folder, std::function<void()> wake)
    : autosave_(std::make_unique<Autosave>(autosave_folder)), wake_(std::move(wake)) {}

void Documents::keep_in(const std::string& autosave_folder) {
  settle();
  autosave_ = std::make_unique<Autosave>(autosave_folder);
}

Documents::~Documents() { keep_unsaved(); }

Document& Documents::add(std::string path, std::string title) {
  all_.push_back(std::make_unique<Document>());
  Document& document = *all_.back();
  document.id = ++last_id_;
  document.path = std::move(path);
  document.title = std::move(title);
  document.saved_ = document.kept_ = document.buffer.state();
  active_ = &document;
  return document;
}

void Documents::read(Document& document) {
  document.disk_ = document.seen_ = stamp_of(document.path);
  document.buffer.load(read_text(document.path));
  document.saved_ = document.kept_ = document.buffer.state();
  document.read_only = !may_write(document.path);
}

Document& Documents::open(const std::string& path) {
  if (Document* known = find(path)) {
    active_ = known;
    return *known;
  }
  Document* before = active_;
  Document& document = add(path, fs::path(path).filename().string());
  try {
    read(document);
  } catch (const Error&) {
    all_.pop_back();
    active_ = before;
    throw;
  }
  return document;
}

Document& Documents::create(const std::string& path) {
  Document& document = add(path, fs::path(path).filename().string());
  document.saved_ = 0;
  return document;
}

Document& Documents::add_untitled() { return add("", "untitled " + std::to_string(++untitled_)); }

int Documents::restore() {
  settle();
  Document* before = active_;
  int count = 0;
  for (const Autosave::Text& text : autosave_->left_behind()) {
    Document* document = nullptr;
    if (!text.path.empty()) {
      document = find(text.path);
      if (!document) {
        document = &add(text.path, fs::path(text.path).filename().string());
        try {
          read(*document);
        } catch (const Error& error) {
          document->reason = error.what();
        }
      }
    } else {
      document = &add_untitled();
    }
    if (document->buffer.content() == text.content) continue;
    document->buffer.reload(text.content);
    document->trouble = Document::Trouble::restored;
    document->restored_ = document->buffer.state();
    ++count;
  }
  keep_unsaved();
  settle();
  if (trouble_.empty()) autosave_->forget_left_behind();
  if (before) active_ = before;
  return count;
}

void Documents::save(Document& document, Saved saved) {
  if (document.path.empty()) fail_as(ErrorKind::file, document.title, ": has no file yet");
  if (!may_write(real_path(document.path))) {
    document.read_only = true;
    fail_as(ErrorKind::file, document.path, ": is read-only; save it under another name");
  }
  write(document, document.path, std::move(saved));
}

void Documents::save_as(Document& document, const std::string& path, Saved saved) {
  Document* other = find(path);
  if (other && other != &document)
    fail_as(ErrorKind::file, path, ": is open in another tab; close that first");
  if (!may_write(real_path(path)))
    fail_as(ErrorKind::file, path, ": is read-only; save it under another name");
  write(document, path, std::move(saved));
}

void Documents::write(Document& document, const std::string& path, Saved saved) {
  ++document.writing_;
  disk_.post(
      [this, content = document.buffer.content(),
       result = Written{document.id, document.buffer.state(), path, {}, {}, std::move(saved)}]() mutable {
        result.error = write_text(real_path(result.path), content);
        result.stamp = stamp_of(result.path);
        {
          const std::lock_guard lock(mutex_);
          written_.push_back(std::move(result));
        }
        if (wake_) wake_();
      });
}

void Documents::take_over(const Written& result) {
  Document* document = with_id(result.id);
  if (document) --document->writing_;
  if (document && result.error.empty()) {
    if (document->path != result.path) {
      document->path = result.path;
      document->title = fs::path(result.path).filename().string();
    }
    document->disk_ = document->seen_ = result.stamp;
    document->saved_ = result.state;
    document->trouble = Document::Trouble::none;
    document->reason.clear();
    document->read_only = false;
    if (!document->modified()) {
      document->kept_ = result.state;
      drop_kept(document->id);
    }
  }
  if (result.saved) result.saved(result.error);
}

void Documents::take_results() {
  std::vector<Written> written;
  std::vector<Kept> kept;
  {
    const std::lock_guard lock(mutex_);
    written.swap(written_);
    kept.swap(kept_texts_);
  }
  for (const Kept& text : kept) {
    trouble_ = text.trouble;
    Document* document = with_id(text.id);
    if (document && !text.trouble.empty()) document->kept_ = 0;  // keeping failed: update() tries again
  }
  for (const Written& result : written) take_over(result);
}

void Documents::settle() {
  disk_.settle();
  take_results();
}

void Documents::drop_kept(int id) {
  disk_.post([this, id] { autosave_->drop(id); });
}

void Documents::close(Document& document) {
  drop_kept(document.id);
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const auto& d) { return d.get() == &document; });
  const auto i = size_t(at - all_.begin());
  const bool shown = active_ == &document;
  all_.erase(at);
  if (shown) active_ = all_.empty() ? nullptr : all_[std::min(i, all_.size() - 1)].get();
}

void Documents::keep_mine(Document& document) {
  document.trouble = Document::Trouble::none;
  document.disk_ = document.seen_ = stamp_of(document.path);
}

Document* Documents::find(const std::string& path) {
  for (const auto& document : all_)
    if (!document->path.empty() && same_file(document->path, path)) return document.get();
  return nullptr;
}

Document* Documents::with_id(int id) {
  for (const auto& document : all_)
    if (document->id == id) return document.get();
  return nullptr;
}

Document* Documents::with_title(const std::string& title) {
  for (const auto& document : all_)
    if (document->path.empty() && document->title == title) return document.get();
  return nullptr;
}

void Documents::take_text(Document& document, const Look& look) {
  if (look.trouble.empty()) {
    document.buffer.reload(look.text);
    document.disk_ = document.seen_ = look.stamp;
    document.saved_ = document.buffer.state();
    document.read_only = !look.writable;
  }
  document.trouble = look.trouble.empty() ? Document::Trouble::none : Document::Trouble::gone;
  document.reason = look.trouble;
}

void Documents::take_from_disk(Document& document) {
  Look look{document.id, document.path, {}, {}, true, {}, false, {}, {}};
  Documents::look(look);
  take_text(document, look);
}

// A file is read only if it was the same in two consecutive checks: another program may still be writing it.
void Documents::look(Look& look) {
  look.stamp = stamp_of(look.path);
  look.writable = may_write(look.path);
  if (!look.wanted &&
      (look.id == 0 || !look.stamp.exists() || look.stamp == look.known || look.stamp != look.seen))
    return;
  try {
    look.text = read_text(look.path);
  } catch (const Error& error) {
    look.trouble = error.what();
  }
}

void Documents::ask_disk(const std::vector<std::string>& others) {
  std::vector<Look> looks;
  for (const auto& document : all_) {
    if (document->path.empty()) continue;
    const bool gone = document->trouble == Document::Trouble::gone && document->disk_.exists();
    looks.push_back(
        {document->id, document->path, document->disk_, document->seen_, gone, {}, false, {}, {}});
  }
  for (const std::string& path : others) {
    const auto known =
        std::find_if(others_.begin(), others_.end(), [&](const Look& o) { return o.path == path; });
    looks.push_back(known == others_.end() ? Look{0, path, {}, {}, false, {}, false, {}, {}} : *known);
  }
  looking_ = true;
  disk_.post([this, looks = std::move(looks)]() mutable {
    const auto open = [&](const Look& look) {
      return look.id == 0 && std::any_of(looks.begin(), looks.end(), [&](const Look& other) {
               return other.id > 0 && same_file(other.path, look.path);
             });
    };
    std::vector<Look> found;
    for (const Look& asked : looks)
      if (!open(asked)) look(found.emplace_back(asked));
    const bool news = std::any_of(found.begin(), found.end(), [](const Look& look) {
      return look.stamp != look.known || look.stamp != look.seen || look.wanted;
    });
    {
      const std::lock_guard lock(mutex_);
      looks_ = std::move(found);
    }
    if (news && wake_) wake_();
  });
}

// Returns true if the document took over the file's text.
bool Documents::take_look(Document& document, Look& look) {
  if (document.path != look.path || document.writing_ > 0 || document.disk_ != look.known) return false;
  if (look.stamp == document.disk_) {
    document.seen_ = look.stamp;
    document.read_only = look.stamp.exists() && !look.writable;
    if (look.wanted && document.trouble == Document::Trouble::gone) take_text(document, look);
    return false;
  }
  if (look.stamp != document.seen_) {
    document.seen_ = look.stamp;
    return false;
  }
  if (!look.stamp.exists()) {
    document.disk_ = look.stamp;
    document.trouble = Document::Trouble::gone;
    document.reason = document.path + ": " + std::strerror(ENOENT);
    return false;
  }
  if (document.modified()) {
    document.disk_ = look.stamp;
    document.trouble = Document::Trouble::conflict;
    return false;
  }
  take_text(document, look);
  return document.trouble == Document::Trouble::none;
}

// Checks a file that is not open in the editor. Returns true if it has changed.
bool Documents::take_look(const Look& look) {
  Look& other = others_.emplace_back(look);
  const bool first = !look.seen.exists() && !look.known.exists();
  const bool changed = !first && look.stamp != look.known && look.stamp == look.seen && look.stamp.size > 0;
  if (first || changed) other.known = look.stamp;
  other.seen = look.stamp;
  return changed;
}

void Documents::update(const std::vector<std::string>& others, std::vector<std::string>& changed) {
  take_results();
  const Clock::time_point now = Clock::now();
  if (now - kept_ > kBetweenKeeping) {
    kept_ = now;
    keep_unsaved();
  }
  for (const auto& document : all_)
    if (document->trouble == Document::Trouble::restored && document->buffer.state() != document->restored_)
      document->trouble = Document::Trouble::none;
  std::optional<std::vector<Look>> looks;
  {
    const std::lock_guard lock(mutex_);
    looks.swap(looks_);
  }
  if (looks) {
    looking_ = false;
    others_.clear();
    for (Look& look : *looks) {
      Document* document = look.id > 0 ? with_id(look.id) : nullptr;
      if (document ? take_look(*document, look) : look.id == 0 && take_look(look))
        changed.push_back(look.path);
    }
  }
  if (looking_ || now - looked_ < kBetweenLooks) return;
  looked_ = now;
  ask_disk(others);
}

void Documents::keep_unsaved() {
  for (const auto& document : all_) {
    if (document->kept_ == document->buffer.state()) continue;
    const bool nothing =
        !document->modified() || (document->path.empty() && document->buffer.content().empty());
    document->kept_ = document->buffer.state();
    if (nothing) {
      drop_kept(document->id);
      continue;
    }
    // Absolute, since the next start may be in another folder.
    std::error_code ignored;
    const std::string path = document->path.empty() ? "" : fs::absolute(document->path, ignored).string();
    disk_.post([this, id = document->id, path, content = document->buffer.content()] {
      const bool kept = autosave_->keep(id, path, content);
      const std::lock_guard lock(mutex_);
      kept_texts_.push_back({id, kept ? "" : autosave_->trouble()});
    });
  }
}

}  // namespace lunagrad
