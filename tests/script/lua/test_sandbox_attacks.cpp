// The attacks of attacks.lua, each in a sandbox of its own: none gets through, nothing outside changes. Then
// again with a program whose checks of paths are broken: the kernel holds.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "folders.h"
#include "script/guard/guard.h"
#include "tests/support/program.h"
#include "tests/support/sanitizers.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// own/ with the script, and outside/ with its targets.
void lay_out(const Folder& folder) {
  fs::create_directories(folder.path() + "/own");
  fs::create_directories(folder.path() + "/outside");
  fs::copy(LUNAGRAD_SOURCE_DIR "/tests/script/lua/attacks.lua", folder.path() + "/own/attacks.lua");
  folder.write("own/bytes.lua", "\x1bLua");
  folder.write("outside/secret.csv", "1,2\n");
  folder.write("outside/secret.lua", "return 'secret'");
  const Finished made = folder.run(
      {"-e",
       "lg.io.save('outside/secret.st', {a = lg.ones(2)}) lg.io.npy.save('outside/secret.npy', lg.ones(2)) "
       "lg.io.npz.save('outside/secret.npz', {a = lg.ones(2)}) "
       "lg.io.png.save('outside/secret.png', lg.zeros(2, 2)) lg.io.pt.save('outside/secret.pt', "
       "{lg.ones(2)}) "
       "lg.io.onnx_export('outside/secret.onnx', lg.nn.Linear(2, 1), lg.ones(1, 2)) "
       "local w = lg.run.state('w', function() return lg.zeros(1) end) "
       "for _ in lg.run.steps(2) do w:add_(1) lg.run.checkpoint() end",
       "--run-dir", "outside/run"});
  INFO(made.err);
  REQUIRE(made.code == 0);
  fs::create_directories(folder.path() + "/outside/kept.shards");
  folder.write("outside/kept.shards/1-0", "kept");
  fs::create_symlink("../outside/secret.csv", folder.path() + "/own/link.csv");
  fs::create_symlink("../outside/secret.lua", folder.path() + "/own/link.lua");
  fs::create_symlink("../outside", folder.path() + "/own/out");
}

// The files outside of the run's folder, with their contents.
std::map<std::string, std::string> outside_of_run(const Folder& folder) {
  std::map<std::string, std::string> found;
  for (auto at = fs::recursive_directory_iterator(folder.path()); at != fs::recursive_directory_iterator();
       ++at) {
    if (at->path().filename() == "result") {
      at.disable_recursion_pending();
      continue;
    }
    found[at->path().string()] = at->is_regular_file() ? read_file(at->path().string()) : "";
  }
  return found;
}

size_t bytes_in(const std::string& folder) {
  size_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

// The kernel leaves a process its own streams.
void attack_each(const std::vector<std::string>& env, bool streams) {
  const Folder folder;
  lay_out(folder);
  const Finished counted = folder.run({"run", "own/attacks.lua"});
  const int count = std::atoi(counted.out.c_str());
  REQUIRE(count >= 30);
  const std::map<std::string, std::string> before = outside_of_run(folder);
  for (int i = 1; i <= count; ++i) {
    const std::string result = folder.path() + "/result";
    fs::remove_all(result);
    const Finished finished =
        folder.run({"run", "own/attacks.lua", "--sandbox", "--disk", "8", "--run-dir", "result", "--timeout",
                    "60", "--", std::to_string(i), folder.path() + "/outside"},
                   "", env);
    CAPTURE(finished.out);
    CAPTURE(finished.err);
    const bool held = finished.out.find("\nheld") != std::string::npos || finished.code == 8 ||
                      (streams && finished.out.find("\nstream") != std::string::npos);
    CHECK(held);
    CHECK(finished.out.find("\nthrough") == std::string::npos);
    CHECK((finished.code == 0 || finished.code == 1 || finished.code == 6 || finished.code == 8));
    CHECK(outside_of_run(folder) == before);
    CHECK(bytes_in(result) < (size_t(9) << 20));
  }
}

bool kernel_limits_all() {
  for (const GuardSupport& wall : guard_support())
    if (!wall.why.empty()) return false;
  return true;
}

}  // namespace

TEST_CASE("no attack of a sandboxed script gets through") { attack_each({}, false); }

TEST_CASE("no attack of a sandboxed script gets through when the checks of paths are broken") {
  if (tests::kSanitized || !kernel_limits_all()) return;
  const Folder trusted;
  attack_each({"LD_PRELOAD=" LUNAGRAD_BROKEN_WALLS, "TRUSTED_FOLDER=" + trusted.path()}, true);
}
