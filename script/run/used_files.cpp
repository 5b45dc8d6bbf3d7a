#include "script/run/used_files.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/input_file.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr const char* kKinds[] = {"data", "folder", "module"};

}  // namespace

bool look_at_file(UsedFile& file) {
  std::error_code error;
  const fs::path path = file.absolute.empty() ? fs::absolute(file.path, error) : fs::path(file.absolute);
  const fs::file_status status = fs::status(path, error);
  if (error || (!fs::is_regular_file(status) && !fs::is_directory(status))) return false;
  file.absolute = path.lexically_normal().string();
  if (fs::is_directory(status)) {
    file.kind = UsedFile::Kind::folder;
    return true;
  }
  file.bytes = fs::file_size(path, error);
  const auto changed = std::chrono::file_clock::to_sys(fs::last_write_time(path, error));
  file.changed = std::chrono::duration_cast<std::chrono::nanoseconds>(changed.time_since_epoch()).count();
  return !error;
}

std::optional<std::string> UsedFiles::read(const std::string& path, const std::string& copy) {
  UsedFile file{copy.empty() ? UsedFile::Kind::data : UsedFile::Kind::module, path, "", 0, 0, copy};
  if (written_.contains(path) || read_.contains(path) || !look_at_file(file)) return {};
  read_.insert(path);
  Json line{{"file", path_text(path)}, {"kind", kKinds[size_t(file.kind)]}, {"at", path_text(file.absolute)}};
  if (file.kind != UsedFile::Kind::folder) line.update({{"bytes", file.bytes}, {"changed", file.changed}});
  if (!copy.empty()) line["copy"] = path_text(copy);
  return json_text(line);
}

UsedFileList used_files(const std::string& run_folder) {
  const std::string path = run_folder + "/files.jsonl";
  UsedFileList list;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return list;
  std::istringstream in(read_regular_file(path));
  std::string line;
  while (std::getline(in, line)) {
    if (in.eof()) break;  // a crash left the last line half-written
    try {
      const Json json = is_damaged(line) ? Json() : read_json<Json>(line);
      if (!json.is_object()) {
        ++list.damaged;
        continue;
      }
      UsedFile file;
      const std::string kind = json.at("kind");
      for (size_t i = 0; i < std::size(kKinds); ++i)
        if (kind == kKinds[i]) file.kind = UsedFile::Kind(i);
      file.path = path_of_text(json.at("file").get<std::string>());
      file.absolute = path_of_text(json.at("at").get<std::string>());
      file.bytes = json.value("bytes", uint64_t(0));
      file.changed = json.value("changed", int64_t(0));
      file.copy = path_of_text(json.value("copy", ""));
      file.line = line;
      list.files.push_back(std::move(file));
    } catch (const Json::exception&) {
      ++list.damaged;
    }
  }
  return list;
}

std::vector<std::string> changed_data(const std::vector<UsedFile>& files) {
  std::vector<std::string> changed;
  for (const UsedFile& used : files) {
    UsedFile now = used;
    if (used.kind == UsedFile::Kind::data &&
        (!look_at_file(now) || now.bytes != used.bytes || now.changed != used.changed))
      changed.push_back(used.path);
  }
  return changed;
}

}  // namespace lunagrad
