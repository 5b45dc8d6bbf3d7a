#pragma once
// Packs the folder of a run into a bundle (script/run/bundle.h). No Lua; any thread. Errors are of kind file.
#include <cstdint>
#include <string>
#include <vector>

#include "script/run/bundle.h"

namespace lunagrad {

struct BundleOptions {
  // Data files that together have more bytes than this are not packed, only fingerprinted.
  uint64_t data = uint64_t(16) << 20;
  bool checkpoints = false;
  bool trusted = false;  // another user's run may name files outside its folder
  BundleProgress progress = {};
};
// Packs the folder of a run. Error when a file that the run read is gone or has changed its size. `warnings`
// gets a sentence for each file that was written to since.
Bundle pack_run(const std::string& run_folder, const std::string& bundle, const BundleOptions&,
                std::vector<std::string>& warnings);

}  // namespace lunagrad
