#pragma once
// Reads mutated files of one format under a memory limit of 256 MiB: each file is read or refused by an
// Error. 150 files of each format, 20000 with LUNAGRAD_TEST_ALL, or as many as LUNAGRAD_MUTATED says;
// LUNAGRAD_SEED draws others. A file for which neither holds stays in the working directory as wrong-NAME.
#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/memory_limit.h"
#include "script/lua/garbage.h"
#include "script/lua/state.h"
#include "script/lua/traceback.h"
#include "tests/fuzz/mutator.h"
#include "tests/support/files.h"
#include "tests/support/resident.h"
#include "tests/support/sanitizers.h"

namespace lunagrad::tests {

inline constexpr size_t kReadersMemory = size_t(256) << 20;

// A file is assembled of parts that are changed one by one: entries of an archive, chunks, a header and its
// data.
struct FilePiece {
  std::string name, bytes;
};
using FilePieces = std::vector<FilePiece>;

struct MutatedFormat {
  std::string file;              // its name
  std::vector<FilePieces> good;  // valid files
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> nests;
  std::function<std::string(const FilePieces&)>
      assemble;  // with the lengths and checksums that the reader expects
  std::function<void(const std::string& path)> read;
  std::function<std::string(Mutator&, const std::string& bytes, const std::string& other)> change =
      [](Mutator& mutator, const std::string& bytes, const std::string& other) {
        return mutator.mutated(bytes, other);
      };
};

inline std::string first_part(const FilePieces& parts) { return parts.empty() ? "" : parts[0].bytes; }

// The memory limit of the thread, without a script.
struct ReadersLimit {
  ReadersLimit() { set_memory_limit({kReadersMemory, nullptr}); }
  ~ReadersLimit() { set_memory_limit({}); }
};

// A script state whose memory has the limit. run() calls the code with a path; an error of the script is an
// Error.
class ReadingScript {
 public:
  ReadingScript() : L_(new_state({.memory_limit = kReadersMemory})) { open_lunagrad(L_); }
  ~ReadingScript() { close_state(L_); }
  ReadingScript(const ReadingScript&) = delete;

  void run(const std::string& code, const std::string& path) {
    lua_settop(L_, 0);
    const std::string whole = "local path = ... local lg = require 'lunagrad' " + code;
    REQUIRE(luaL_loadbufferx(L_, whole.data(), whole.size(), "@reader.lua", "t") == LUA_OK);
    lua_pushlstring(L_, path.data(), path.size());
    ScriptError error;
    const bool done = traceback_call(L_, 1, 0, error) == LUA_OK;
    lua_settop(L_, 0);
    if (++runs_ % 16 == 0) collect_everything(L_);
    if (done) return;
    // A bug of the library: it indexes or computes with a value that the file lacks.
    const bool raw = error.message.find("attempt to ") != std::string::npos ||
                     error.message.find("stack overflow") != std::string::npos;
    if (raw) throw std::runtime_error(error.message);
    throw Error(error.message, error.kind);
  }

 private:
  Context own_;
  UseContext use_{own_};
  lua_State* L_;
  int runs_ = 0;
};

inline size_t mutated_count() {
  if (const char* given = std::getenv("LUNAGRAD_MUTATED")) return size_t(std::atoll(given));
  return std::getenv("LUNAGRAD_TEST_ALL") ? 20000 : 150;
}

inline FilePieces mutated_parts(Mutator& mutator, const MutatedFormat& format) {
  FilePieces parts = format.good[mutator.below(format.good.size())];
  const FilePieces& others = format.good[mutator.below(format.good.size())];
  for (size_t left = mutator.one_in(3) ? 2 : 1; left > 0 && !parts.empty(); --left) {
    const size_t at = mutator.below(parts.size());
    FilePiece& part = parts[at];
    const FilePiece& other = others[mutator.below(others.size())];
    if (parts.size() > 1 && mutator.one_in(12)) {
      parts.erase(parts.begin() + std::ptrdiff_t(at));
    } else if (parts.size() > 1 && mutator.one_in(12)) {
      parts.push_back(mutator.one_in(2) ? part : other);
    } else if (parts.size() > 1 && mutator.one_in(12)) {
      part.name = mutator.mutated(part.name, other.name);
    } else {
      part.bytes = format.change(mutator, part.bytes, other.bytes);
    }
  }
  return parts;
}

inline void read_mutated(const MutatedFormat& format) {
  const char* const seed = std::getenv("LUNAGRAD_SEED");
  Mutator mutator(seed ? uint64_t(std::atoll(seed)) : 1, format.words, format.nests);
  const Folder folder;
  for (const FilePieces& parts : format.good) {
    const std::string path = folder.with(format.file, format.assemble(parts));
    CAPTURE(format.file);
    CHECK_NOTHROW(format.read(path));
  }
  const ResidentPeak resident;
  size_t refused = 0, largest = 0;
  const size_t count = mutated_count();
  for (size_t i = 0; i < count; ++i) {
    std::string content = format.assemble(mutated_parts(mutator, format));
    if (mutator.one_in(8)) content = mutator.mutated(content, format.assemble(format.good[0]));
    largest = std::max(largest, content.size());
    const std::string path = folder.with(format.file, content);  // stays after a crash
    const auto keep = [&] {
      std::ofstream("wrong-" + format.file, std::ios::binary) << content;
      return "wrong-" + format.file;
    };
    const std::clock_t start = std::clock();
    try {
      format.read(path);
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& error) {
      FAIL_CHECK(format.file, " ", i, ": ", std::string(error.what()), "; the file is ", keep());
      return;
    }
    if (std::clock() - start > (kSanitized ? 60 : 10) * CLOCKS_PER_SEC) {
      FAIL_CHECK(format.file, " ", i, ": reading took too long; the file is ", keep());
      return;
    }
  }
  const size_t grown = resident.grown();
  MESSAGE(format.file, ": ", count, " files, ", refused, " refused, ", grown >> 20, " MiB more at the peak");
  CHECK(refused > 0);
  if (!kSanitized) CHECK(grown < kReadersMemory + (size_t(48) << 20) + 4 * largest);
}

}  // namespace lunagrad::tests
