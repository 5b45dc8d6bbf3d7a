#include "script/bundle/pack.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/core/path_text.h"
#include "runtime/core/version.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/sha256.h"
#include "runtime/io/zip_archive.h"
#include "script/bundle/manifest.h"
#include "script/run/record.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

// Larger files in a run's folder, such as a file that the script wrote there, are left out.
constexpr uint64_t kLargestPart = uint64_t(64) << 20;
constexpr size_t kMostFiles = 100'000;  // in a folder that the script read
constexpr const char* kCheckpoints = "checkpoints";

// The regular files below a folder, sorted; links are not followed.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file() && !at->is_symlink()) {
      if (files.size() == kMostFiles)
        fail_as(ErrorKind::file, folder.string(), ": has more than ", kMostFiles,
                " files, too many for a bundle");
      files.push_back(at->path());
    }
  if (error) fail_as(ErrorKind::file, folder.string(), ": ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

// A file that is packed.
struct Packed {
  std::string entry, path;
};

class Packer {
 public:
  Packer(const std::string& folder, const BundleOptions& options, std::vector<std::string>& warnings)
      : folder_(folder), options_(options), warnings_(warnings) {}

  Bundle collect() {
    const RunRecord run = read_run_config(folder_);
    if (run.config_damaged) fail_as(ErrorKind::file, folder_, "/config.json: is damaged");
    if (run.script.empty()) fail_as(ErrorKind::file, folder_, ": config.json does not say what was run");
    const RunOrigin origin = origin_of_run(folder_);
    if (origin.own) bundle_.run_id = origin.run_id;
    bundle_.script = run.script;
    bundle_.version = LUNAGRAD_VERSION;
    const UsedFileList used = used_files(folder_);
    if (used.damaged > 0)
      warnings_.push_back(skipped_text(used.damaged, folder_ + "/files.jsonl") +
                          ": files that the run read may be missing in the bundle");
    for (const UsedFile& file : used.files) {
      if (!options_.trusted && !is_marked_file(bundle_.run_id, file.line)) require_file_inside(file);
      add_used(file);
    }
    uint64_t data = 0;
    for (const BundleFile& file : bundle_.files)
      if (file.kind == UsedFile::Kind::data) data += file.bytes;
    fingerprint(data <= options_.data);
    add_parts();
    return bundle_;
  }

  // The contents are kept in memory, since libzip reads the entries when the archive is closed.
  void write(const std::string& path) {
    std::vector<std::unique_ptr<ZipContent>> contents;
    AtomicFile file(path);
    ZipWriter writer(path, file.temporary_name());
    const auto add = [&](const std::string& name, std::string content) {
      contents.push_back(std::make_unique<ZipContent>());
      contents.back()->preamble = std::move(content);
      writer.add(name, *contents.back(), true);
    };
    add(std::string(kManifest), manifest_text(bundle_));
    for (const Packed& packed : packed_) add(packed.entry, read_file(packed.path));
    writer.close();
    file.take_up();
    file.commit();
  }

 private:
  // Otherwise a line of files.jsonl that another user wrote could pack any file of this user.
  void require_file_inside(const UsedFile& used) const {
    UsedFile copy = used;
    copy.absolute = folder_ + "/" + used.copy;
    const bool has_copy = !used.copy.empty() && stays_inside(used.copy) && look_at_file(copy);
    const std::string& named = has_copy ? copy.absolute : used.absolute;
    if (!lies_inside(named, folder_))
      fail_as(ErrorKind::file, folder_, ": files.jsonl names ", named,
              ", which is outside of the run, and this user's mark is not beside it; --trust packs it");
  }

  void add_used(const UsedFile& used) {
    if (used.kind == UsedFile::Kind::folder) {
      bundle_.files.push_back({used.kind, used.path, used.absolute, 0, "", ""});
      for (const fs::path& file : files_below(used.absolute)) {
        const fs::path within = file.lexically_relative(used.absolute);
        UsedFile inner{
            UsedFile::Kind::data, (fs::path(used.path) / within).string(), file.string(), 0, 0, ""};
        if (look_at_file(inner)) add_file(inner, file.string());
      }
      return;
    }
    if (!used.copy.empty() && stays_inside(used.copy)) {
      UsedFile copy = used;
      copy.absolute = folder_ + "/" + used.copy;
      if (look_at_file(copy))
        return add_file({used.kind, used.path, used.absolute, copy.bytes, 0, ""}, copy.absolute);
    }
    UsedFile now = used;
    if (!look_at_file(now))
      fail_as(ErrorKind::file, used.absolute, ": the run read this file, and it is gone; put it back there");
    if (now.bytes != used.bytes)
      fail_as(ErrorKind::file, used.absolute, ": has ", now.bytes, " bytes, and had ", used.bytes,
              " when the run read it; put the old file back, or run the script again");
    if (now.changed != used.changed)
      warnings_.push_back(used.absolute + ": was written to after the run had read it");
    add_file(now, now.absolute);
  }

  void add_file(const UsedFile& used, const std::string& source) {
    for (const BundleFile& known : bundle_.files)
      if (known.path == used.path) return;
    bundle_.files.push_back({used.kind, used.path, used.absolute, used.bytes, "", ""});
    sources_.resize(bundle_.files.size());
    sources_.back() = source;
  }

  void fingerprint(bool with_data) {
    sources_.resize(bundle_.files.size());
    for (size_t i = 0; i < bundle_.files.size(); ++i) {
      BundleFile& file = bundle_.files[i];
      if (options_.progress) options_.progress(i, bundle_.files.size(), file.path);
      if (file.kind == UsedFile::Kind::folder) continue;
      file.sha256 = sha256_of_file(sources_[i]);
      if (file.kind == UsedFile::Kind::data && !with_data) continue;
      file.entry = text("files/", i + 1);
      packed_.push_back({file.entry, sources_[i]});
    }
    if (options_.progress) options_.progress(bundle_.files.size(), bundle_.files.size(), "");
  }

  void add_parts() {
    for (const fs::path& file : files_below(folder_)) {
      const std::string part = file.lexically_relative(folder_).string();
      const bool checkpoint = part.starts_with(kCheckpoints);
      if (!stays_inside(part) || is_temporary(part) || (checkpoint && !options_.checkpoints)) continue;
      std::error_code error;
      const uint64_t bytes = fs::file_size(file, error);
      if (error) fail_as(ErrorKind::file, file.string(), ": ", error.message());
      if (!checkpoint && bytes > kLargestPart) {
        bundle_.left_out.push_back(part);
        continue;
      }
      bundle_.parts[part] = bytes;
      packed_.push_back({std::string(kRunPart) + path_text(part), file.string()});
    }
  }

  const std::string folder_;
  const BundleOptions& options_;
  std::vector<std::string>& warnings_;
  Bundle bundle_;
  std::vector<std::string> sources_;  // of the bundle's files
  std::vector<Packed> packed_;
};

}  // namespace

Bundle pack_run(const std::string& run_folder, const std::string& path, const BundleOptions& options,
                std::vector<std::string>& warnings) {
  if (!is_run(run_folder)) fail_as(ErrorKind::file, run_folder, ": not a run's folder");
  if (replaces_file(path) && !is_bundle(path))
    fail_as(ErrorKind::file, path, ": is there already and no bundle; give another name with -o");
  Packer packer(fs::path(run_folder).lexically_normal().string(), options, warnings);
  Bundle bundle = packer.collect();
  packer.write(path);
  return bundle;
}

}  // namespace lunagrad
