// Mutated bundles.
#include "runtime/core/error.h"
#include "script/run/bundle.h"
#include "tests/fuzz/reading.h"
#include "tests/fuzz/run_texts.h"
#include "tests/support/zip_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
namespace fs = std::filesystem;

TEST_CASE("mutated bundles") {
  const Folder folder;
  const std::string manifest =
      R"({"format":"lunagrad bundle","version":1,"lunagrad":"0.1.0","script":"train.lua","files":[)"
      R"({"kind":"data","path":"x.csv","origin":"/tmp/x.csv","bytes":8,"sha256":")" +
      std::string(64, 'a') +
      R"(","entry":"files/1"},)"
      R"({"kind":"folder","path":"data","origin":"/tmp/data"}],"left_out":["run/x"]})";
  const FilePieces good{{"bundle.json", manifest},        {"files/1", "1,2\n3,4\n"},
                        {"run/config.json", kConfig},     {"run/metrics.jsonl", kMetrics},
                        {"run/script.lua", "return 1\n"}, {"run/own\\xff", "words"}};
  const auto assemble = [](const FilePieces& parts) {
    std::vector<HandMadeEntry> entries;
    for (const FilePiece& part : parts)
      entries.push_back(part.bytes.size() % 3 ? deflated(part.name, part.bytes)
                                              : stored(part.name, part.bytes));
    return zip_bytes(entries);
  };
  read_mutated(
      {.file = "x.run",
       .good = {good},
       .words = {"..", "/", "run/", "files/1", "files/2", "\\x2f", "\\x00", "\"entry\"", "\"data\"",
                 "\"bytes\":8", "\"bytes\":-1", "null", "{}", "[]", "PK\1\2", "PK\5\6", "PK\6\6", "PK\6\7"},
       .nests = kJsonNests,
       .assemble = assemble,
       .read = [&](const std::string& path) {
         const ReadersLimit limit;
         is_bundle(path);
         read_bundle(path);
         CHECK(fs::is_empty(folder.file("")));
         const std::string place = folder.file("unpacked");
         fs::create_directories(place);
         try {
           unpack_run(path, place);
         } catch (const Error&) {
         }
         fs::remove_all(place);
         CHECK(fs::is_empty(folder.file("")));  // unpack_run() left no other files
       }});
}
