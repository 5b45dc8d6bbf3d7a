#include "script/run/notes.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "script/run/record.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLongestNote = 64 << 10;
constexpr const char *kStar = "star", *kNote = "note.txt";

void remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) fail_as(ErrorKind::file, path, ": ", error.message());
}

}  // namespace

RunNotes read_notes(const std::string& folder) {
  std::error_code ignored;
  RunNotes notes{fs::exists(folder + "/" + kStar, ignored), {}};
  const std::string path = folder + "/" + kNote;
  if (!is_entry_inside(folder, kNote)) return notes;
  std::ifstream in(path, std::ios::binary);
  notes.note.resize(kLongestNote);
  in.read(notes.note.data(), std::streamsize(kLongestNote));
  notes.note.resize(in.is_open() ? size_t(in.gcount()) : 0);
  while (notes.note.ends_with('\n')) notes.note.pop_back();
  return notes;
}

void set_star(const std::string& folder, bool starred) {
  if (!starred) return remove_file(folder + "/" + kStar);
  require_entry_inside(folder, kStar);
  write_file(folder + "/" + kStar, "");
}

void set_note(const std::string& folder, std::string_view note) {
  if (note.empty()) return remove_file(folder + "/" + kNote);
  require_entry_inside(folder, kNote);
  write_file(folder + "/" + kNote, std::string(note) + "\n");
}

void remove_run(const std::string& folder) {
  if (!is_run(folder)) fail_as(ErrorKind::file, folder, ": not the folder of a run, nothing is removed");
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) fail_as(ErrorKind::file, folder, ": ", error.message());
}

}  // namespace lunagrad
