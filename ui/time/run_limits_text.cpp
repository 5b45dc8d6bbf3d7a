#include "ui/time/run_limits_text.h"

#include <filesystem>
#include <limits>

#include "runtime/core/figures.h"
#include "script/guard/run_limits.h"
#include "ui/runs/journal.h"

namespace lunagrad {
namespace {

constexpr size_t kKeptPart = 4;  // 1 / kKeptPart of the memory limit for kept steps, and for keyframes

std::string size_text(size_t bytes) {
  const size_t mebibytes = bytes >> 20;
  return mebibytes % 1024 ? general_number(double(mebibytes)) + " MiB"
                          : general_number(double(mebibytes >> 10)) + " GiB";
}

}  // namespace

std::string limits_label(const RunOptions& run) {
  std::string limits;
  const auto add = [&](const std::string& limit) { limits += (limits.empty() ? "" : ", ") + limit; };
  if (memory_of(run)) add(size_text(memory_of(run)));
  if (run.disk) add(size_text(run.disk) + " of files");
  if (run.timeout > 0) add(general_number(run.timeout) + " s");
  if (run.sandbox) return "sandbox, " + limits;
  return limits.empty() ? limits : "limited: " + limits;
}

std::string limits_sentences(const RunOptions& run, const std::string& script) {
  std::string text;
  const auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : "\n") + sentence; };
  if (run.sandbox) {
    const std::string folder =
        run.folder.empty() ? std::filesystem::path(script).parent_path().string() : run.folder;
    add("In the sandbox: the script reads " + (folder.empty() ? "the working folder" : printable(folder)) +
        ", writes the folder of its run, and starts no programs.");
  }
  if (memory_of(run))
    add("Memory: at most " + size_text(memory_of(run)) +
        " for the script, its tensors, and what the window keeps of its steps.");
  if (disk_of(run)) add("Files: at most " + size_text(disk_of(run)) + ".");
  if (run.timeout > 0) add("Time: stops after " + general_number(run.timeout) + " s. Pauses do not count.");
  return text;
}

size_t most_to_keep(const RunOptions& run) {
  const size_t limit = memory_of(run);
  return limit ? limit / kKeptPart : std::numeric_limits<size_t>::max();
}

}  // namespace lunagrad
