#include <algorithm>
#include <filesystem>
#include <set>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"
#include "runtime/io/sha256.h"
#include "runtime/io/zip_archive.h"
#include "script/bundle/manifest.h"
#include "script/parts/parts.h"
#include "script/run/record.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kLargestManifest = uint64_t(64) << 20;
constexpr uint64_t kManifestRatio = 32;  // ratio of deflate: paths and SHA-256 sums, most of them different

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_as(ErrorKind::file, path.string(), ": ", error.message());
}

// An archive that is checked to have exactly the entries of a bundle.
class Reader {
 public:
  explicit Reader(const std::string& path) : archive_(path, "bundle of a run") {
    const std::vector<ZipEntry>& entries = archive_.entries();
    if (entries.empty() || entries[0].name != kManifest || entries[0].size > kLargestManifest)
      fail_as(ErrorKind::file, path, ": not a bundle of a run: ", kManifest, " is not its first entry");
    ReadBudget budget(path + ": " + std::string(kManifest), entries[0].packed, kManifestRatio);
    manifest_ = archive_.content(entries[0], std::string(kManifest), budget);
    bundle_ = manifest_in(manifest_, path);
    std::set<std::string> expected;
    for (const BundleFile& file : bundle_.files)
      if (!file.entry.empty() && !expected.insert(file.entry).second)
        fail_as(ErrorKind::file, path, ": two files are entry '", file.entry, "'");
    std::set<std::string> seen;
    for (size_t i = 1; i < entries.size(); ++i) {
      const std::string& name = entries[i].name;
      const std::string place = path_of_text(name);
      const bool part = name.starts_with(kRunPart) && stays_inside(place) && path_text(place) == name;
      if ((!part && !expected.contains(name)) || !seen.insert(name).second)
        fail_as(ErrorKind::file, path, ": entry '", name, "' does not belong into a bundle");
      if (part) bundle_.parts[place.substr(kRunPart.size())] = entries[i].size;
    }
    for (const BundleFile& file : bundle_.files)
      if (!file.entry.empty() && (!seen.contains(file.entry) || entry(file.entry).size != file.bytes))
        fail_as(ErrorKind::file, path, ": ", file.path, " is not in it as ", file.bytes, " bytes");
  }

  const Bundle& bundle() const { return bundle_; }
  const std::string& manifest() const { return manifest_; }

  // Error when the unpacked bundle does not fit into the folder's file system.
  void check_room(const std::string& folder) const {
    uint64_t bytes = 0;
    for (const ZipEntry& entry : archive_.entries())
      if (__builtin_add_overflow(bytes, entry.size, &bytes)) bytes = UINT64_MAX;
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (!error && bytes > space.available)
      fail_as(ErrorKind::file, archive_.path(), ": unpacks to ", bytes, " bytes, and ", folder,
              " has room for ", space.available);
  }

  void write_parts(const std::string& folder) const {
    for (const auto& [part, bytes] : bundle_.parts)
      write(std::string(kRunPart) + path_text(part), folder + "/" + part);
  }

  void verify() const {
    for (const ZipEntry& entry : archive_.entries()) read(entry, [](std::string_view) {});
    for (const BundleFile& file : bundle_.files) {
      if (file.entry.empty()) continue;
      Sha256 sum;
      read(entry(file.entry), [&](std::string_view piece) { sum.add(piece.data(), piece.size()); });
      check_sum(file, sum.finish());
    }
  }

  void write_file_of(const BundleFile& file, const std::string& to) const {
    write(file.entry, to);
    check_sum(file, sha256_of_file(to));
  }

 private:
  const ZipEntry& entry(const std::string& name) const {
    return *std::find_if(archive_.entries().begin(), archive_.entries().end(),
                         [&](const ZipEntry& one) { return one.name == name; });
  }

  void check_sum(const BundleFile& file, const std::string& sha256) const {
    if (sha256 != file.sha256)
      fail_as(ErrorKind::file, archive_.path(), ": ", file.path, " is damaged: its SHA-256 is not ",
              file.sha256);
  }

  // Passes the content of an entry to `take`, piece by piece, and compares its CRC at the end.
  template <class F>
  void read(const ZipEntry& from, const F& take) const {
    constexpr uint64_t kPiece = uint64_t(1) << 20;
    const ZipStream stream = archive_.open(from, "'" + from.name + "'");
    std::string piece(size_t(std::min(from.size, kPiece)), '\0');
    for (uint64_t left = from.size; left > 0;) {
      const uint64_t count = std::min(left, kPiece);
      stream.read(piece.data(), count);
      take(std::string_view(piece).substr(0, size_t(count)));
      left -= count;
    }
    stream.check_end();
  }

  void write(const std::string& name, const std::string& to) const {
    make_folder(fs::path(to).parent_path());
    AtomicFile file(to);
    read(entry(name), [&](std::string_view piece) { file.write(piece); });
    file.commit();
  }

  ZipArchive archive_;
  std::string manifest_;
  Bundle bundle_;
};

std::string with_size(uint64_t bytes, const std::string& sha256) {
  return text(bytes, " bytes with the SHA-256 ", sha256);
}

// The absolute path of a file of which the bundle has only the fingerprint. Inside the working folder the
// maker of the bundle learns nothing by this, since the fingerprint shows that they know the content.
std::string find_here(const std::string& bundle, const BundleFile& file, bool confined) {
  std::string others;
  std::vector<std::string> candidates{file.path};
  if (!confined) candidates.push_back(file.origin);
  if (confined && (fs::path(file.path).is_absolute() || !lies_inside(file.path, ".")))
    fail_as(ErrorKind::file, bundle, ": names ", file.path,
            ", which is outside of the bundle and of the working folder; only a bundle that is trusted may");
  for (const std::string& candidate : candidates) {
    std::error_code error;
    const fs::path path = fs::absolute(candidate, error);
    if (error || !fs::is_regular_file(path, error)) continue;
    const uint64_t bytes = InputFile(path.string()).size();
    const std::string sha256 = sha256_of_file(path.string());
    if (bytes == file.bytes && sha256 == file.sha256) return path.string();
    others = text(": here are other ", with_size(bytes, sha256));
  }
  fail_as(ErrorKind::file, file.path, ": the run in ", bundle, " read ", with_size(file.bytes, file.sha256),
          others.empty() ? ", and the file is not here: put it there" : others,
          ", or make the bundle with a larger --data");
}

// Error when two entries would become one file.
void check_places(const std::string& bundle, const std::vector<BundleFile>& files) {
  std::set<std::string> places;
  for (const BundleFile& file : files)
    if (file.kind != UsedFile::Kind::folder && !places.insert(place_inside(file.path)).second)
      fail_as(ErrorKind::file, bundle, ": names two files ", place_inside(file.path));
}

Bundle read(const std::string& path) { return Reader(path).bundle(); }

void verify(const std::string& path) { Reader(path).verify(); }

Bundle unpack_run_part(const std::string& path, const std::string& folder) {
  const Reader reader(path);
  reader.check_room(folder);
  reader.write_parts(folder + "/run");
  return reader.bundle();
}

UnpackedBundle unpack(const std::string& path, const std::string& folder, bool confined,
                      const BundleProgress& progress) {
  const Reader reader(path);
  reader.check_room(folder);
  UnpackedBundle made{reader.bundle(), folder + "/run", folder + "/work", "", {}};
  reader.write_parts(made.run);
  const std::vector<BundleFile>& files = made.bundle.files;
  check_places(path, files);
  // Target and place of each link to data outside the bundle.
  std::vector<std::pair<std::string, std::string>> links;
  for (size_t i = 0; i < files.size(); ++i) {
    const BundleFile& file = files[i];
    if (progress) progress(i, files.size(), file.path);
    const std::string inside = made.work + "/" + place_inside(file.path);
    if (file.kind == UsedFile::Kind::folder) {
      make_folder(inside);
      made.stand_ins[file.path] = inside;
    } else if (file.entry.empty()) {
      links.emplace_back(made.stand_ins[file.path] = find_here(path, file, confined), inside);
    } else {
      reader.write_file_of(file, inside);
      if (file.kind == UsedFile::Kind::data) made.stand_ins[file.path] = inside;
    }
  }
  if (progress) progress(files.size(), files.size(), "");
  made.script = made.bundle.place;
  if (!made.bundle.parts.contains("script.lua")) fail_as(ErrorKind::file, path, ": has no script.lua");
  const std::string script = made.work + "/" + made.script;
  make_folder(fs::path(script).parent_path());
  write_file(script, read_file(made.run + "/script.lua"));
  // Links are made last, so that nothing is written through a link. They let a script that lists a folder
  // find these files, too.
  for (const auto& [target, link] : links) {
    make_folder(fs::path(link).parent_path());
    std::error_code error;
    fs::create_symlink(target, link, error);
    if (error) fail_as(ErrorKind::file, link, ": ", error.message());
  }
  return made;
}

RunOrigin origin(const std::string& path, const std::string& run_folder) {
  const std::string manifest = Reader(path).manifest(), marked = run_marked_in(manifest);
  RunOrigin found = origin_of_run(run_folder);
  if (found.own && (marked.empty() || marked != found.run_id)) {
    found.own = false;
    found.why = "its bundle.json has no mark of this user, or was changed";
  }
  if (!found.content.empty()) found.content = sha256_of(found.content + manifest);
  return found;
}

constexpr BundleReader kReader{read, verify, unpack_run_part, unpack, origin};

}  // namespace

void add_part_bundles(Parts& all) { all.bundles = &kReader; }

}  // namespace lunagrad
