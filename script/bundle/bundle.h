#pragma once
// A run in one file: a zip archive with the run's folder, the modules and, when they are small, the data that
// its script read; of larger data the sizes and SHA-256. bundle.json, its first entry, lists them. A bundle
// may come from anybody: names, sizes and contents are checked, and nothing is written outside of the folder
// that it is unpacked into. No Lua; any thread. Errors are of kind file.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "script/run/used_files.h"
#include "script/trust/marks.h"

namespace lunagrad {

struct BundleFile {
  UsedFile::Kind kind = UsedFile::Kind::data;
  std::string path;    // as the script named it
  std::string origin;  // where it was
  uint64_t bytes = 0;
  std::string sha256;  // hexadecimal; "" of a folder
  std::string entry;   // of the archive; "": only its fingerprint is there
};

struct Bundle {
  std::string script;   // its path when it ran
  std::string version;  // of the program
  std::vector<BundleFile> files;
  std::map<std::string, uint64_t> parts;  // of the run's folder: their paths in it and sizes
  std::vector<std::string> left_out;      // parts that were too large
  std::string run_id;                     // of an own run: the manifest gets the user's mark
};

// Called with how many of `all` files are done, and the next.
using BundleProgress = std::function<void(size_t done, size_t all, std::string_view name)>;

struct BundleOptions {
  uint64_t data = uint64_t(16) << 20;  // bytes of data files that are packed; more are fingerprinted
  bool checkpoints = false;
  bool trusted = false;  // the run, which is not the user's own, may name files outside of its folder
  BundleProgress progress = {};
};
// Packs the folder of a run. Error when a file that the run read is gone or has changed its size. `warnings`
// gets a sentence for each that was written to since.
Bundle pack_run(const std::string& run_folder, const std::string& bundle, const BundleOptions&,
                std::vector<std::string>& warnings);

bool is_bundle(const std::string& path);  // by its first bytes
Bundle read_bundle(const std::string& path);
// Reads everything and writes nothing. Error that names the member that is damaged.
void verify_bundle(const std::string& path);

// A bundle that was unpacked into a folder.
struct UnpackedBundle {
  Bundle bundle;
  std::string run;                               // the run's folder
  std::string work;                              // the folder to run the script in
  std::string script;                            // its path from there
  std::map<std::string, std::string> stand_ins;  // path that the script names -> absolute path of its data
};
// The run's folder alone: `folder`/run.
Bundle unpack_run(const std::string& bundle, const std::string& folder);
// Everything. Data that only have a fingerprint are looked for at their path here and where they were: Error
// when they are missing or others. `confined`: at their path inside the working folder alone.
UnpackedBundle unpack_bundle(const std::string& bundle, const std::string& folder, bool confined,
                             const BundleProgress&);
// Whose a bundle is: its manifest and the run in it are marked, the run unpacked into `run_folder`.
RunOrigin origin_of_bundle(const std::string& bundle, const std::string& run_folder);

}  // namespace lunagrad
