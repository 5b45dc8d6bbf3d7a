#pragma once
// A run in one file: a zip archive with the run's folder, the modules and, when they are small, the data
// files that its script read; for larger data only sizes and SHA-256. bundle.json, its first entry, lists
// them. A bundle is untrusted: names, sizes and contents are checked, and nothing is written outside the
// folder into which it is unpacked. The part that packs runs (script/bundle/) reads bundles; without that
// part these functions throw Errors that say so. No Lua; any thread. Errors are of kind file.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "script/run/used_files.h"
#include "script/trust/marks.h"

namespace lunagrad {

inline constexpr std::string_view kManifest = "bundle.json";  // the first entry of a bundle

struct BundleFile {
  UsedFile::Kind kind = UsedFile::Kind::data;
  std::string path;    // as written in the script
  std::string origin;  // where it was
  uint64_t bytes = 0;
  std::string sha256;  // hexadecimal; "" for a folder
  std::string entry;   // entry of the archive; "": only the fingerprint is in the bundle
};

struct Bundle {
  std::string script;   // its path when it ran
  std::string place;    // of a bundle that was read: of the script in the folder into which it is unpacked
  std::string version;  // of the program
  std::vector<BundleFile> files;
  std::map<std::string, uint64_t> parts;  // path in the run's folder -> size
  std::vector<std::string> left_out;      // parts that were too large
  std::string run_id;                     // set for the user's own run: the manifest gets the user's mark
};

// Called before each file with the number of finished files, the total, and the next file's name.
using BundleProgress = std::function<void(size_t done, size_t all, std::string_view name)>;

bool is_bundle(const std::string& path);  // looks at the first bytes; also without the part
Bundle read_bundle(const std::string& path);
// Reads everything and writes nothing. The Error names the damaged member.
void verify_bundle(const std::string& path);

// A bundle that was unpacked into a folder.
struct UnpackedBundle {
  Bundle bundle;
  std::string run;                               // the run's folder
  std::string work;                              // the folder to run the script in
  std::string script;                            // its path relative to `work`
  std::map<std::string, std::string> stand_ins;  // path that the script names -> absolute path of its data
};
// Unpacks only the run's folder, into `folder`/run.
Bundle unpack_run(const std::string& bundle, const std::string& folder);
// Unpacks everything. Data of which the bundle has only the fingerprint are searched at the path in the
// script, then at the original path: Error when they are missing or differ. `confined`: only at the path in
// the script, inside the working folder.
UnpackedBundle unpack_bundle(const std::string& bundle, const std::string& folder, bool confined,
                             const BundleProgress&);
// Whose a bundle is. It is the user's own only when its manifest and its run, unpacked into `run_folder`,
// both have the user's mark.
RunOrigin origin_of_bundle(const std::string& bundle, const std::string& run_folder);

// The part's functions.
struct BundleReader {
  decltype(read_bundle)* read;
  decltype(verify_bundle)* verify;
  decltype(lunagrad::unpack_run)* unpack_run;
  decltype(unpack_bundle)* unpack;
  decltype(origin_of_bundle)* origin;
};

}  // namespace lunagrad
