// Mutated files of runs.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/io/atomic_file.h"
#include "runtime/io/checksum.h"
#include "runtime/io/zip_archive.h"
#include "script/check/check.h"
#include "script/lua/kept.h"
#include "script/report/run_report.h"
#include "script/run/event_file.h"
#include "script/run/json.h"
#include "script/run/record.h"
#include "script/run/used_files.h"
#include "script/tape_diff/read.h"
#include "script/time/keyframe.h"
#include "script/time/probe_file.h"
#include "script/time/timeline.h"
#include "tests/fuzz/reading.h"
#include "tests/fuzz/run_texts.h"
#include "tests/support/png_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

std::string summed_lines(const std::string& lines) {
  std::string out;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    out += summed(lines.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

const std::string kTapes =
    R"({"step":1,"nodes":[{"op":"mul","module":"m","file":"train.lua","line":3,"shape":[2],"dtype":"f32","device":"cpu","attrs":{"dim":"1"},)"
    R"("in":[[-1,"x",[2],"f32",0],[-1,"w",[2],"f32"]]},{"op":"sum","shape":[],"dtype":"f32","in":[[0,"",[2],"f32"]]}],)"
    R"("values":[[[2,0,0,0,1,2,1.5,2.2],[2,0,0,0,1,1,1,1.4]],[[1,0,0,0,3,3,3,3],null]],"sources":[[2,0,0,0,1,"Infinity",1,1.4]],"times":[[10,20],[30,40]]})"
    "\n"
    R"({"step":4,"like":1,"values":[],"times":[]})"
    "\n";
const std::string kFiles =
    R"({"file":"m.lua","kind":"module","at":"/tmp/m.lua","bytes":9,"changed":1,"copy":"modules/COPY"})"
    "\n"
    R"({"file":"x\\xff.csv","kind":"data","at":"/tmp/x.csv","bytes":8,"changed":2})"
    "\n";
// The copy of a module is named after its content.
std::string with_copy(std::string lines) {
  char name[24];
  std::snprintf(name, sizeof name, "%016zx-m.lua", std::hash<std::string_view>()(kScript));
  for (size_t at; (at = lines.find("COPY")) != lines.npos;) lines.replace(at, 4, name);
  return lines;
}
const std::string kProbes =
    R"({"name":"p","expression":"x","file":"train.lua","line":3,"rows":[[1,0.5],[2,"NaN"]]})"
    "\n";

// Everything that reads a run's folder. Each part of it may refuse the run.
void read_run_folder(const std::string& folder) {
  const ReadersLimit limit;
  size_t refusals = 0;
  const auto attempt = [&](const std::function<void()>& read) {
    try {
      read();
    } catch (const Error&) {
      ++refusals;
    }
  };
  attempt([&] { read_run(folder); });
  attempt([&] { read_run_end(folder); });
  attempt([&] { abandoned_checkpoints(folder); });
  attempt([&] { used_files(folder); });
  attempt([&] { read_probes(folder); });
  attempt([&] {
    RunReport report(folder, ReportLimits(), true);
    report.more();
    json_text(report.json());
  });
  attempt([&] {
    const RunTapes tapes(folder);
    for (const int64_t step : tapes.steps()) attempt([&] { tapes.tape(step); });
  });
  attempt([&] {
    const Timeline line = read_timeline(folder);
    for (const ReloadSpan& span : line.spans) attempt([&] { options_behind(line, span); });
  });
  CheckReport report;
  attempt([&] { check_run(folder, false, report); });
  if (refusals > 0 || !report.damages.empty()) fail("refused");
}

}  // namespace

TEST_CASE("mutated folders of runs") {
  const Folder folder;
  fs::create_directories(folder.file("run"));
  fs::create_directories(folder.file("run/images"));
  fs::create_directories(folder.file("run/modules"));
  folder.with("run/" + with_copy("modules/COPY"), kScript);
  for (const char* name : {"run/script.lua", "run/script-00000001.lua", "run/script-00000002.lua"})
    folder.with(name, kScript);
  folder.with("run/images/x-1.png", png_bytes({1, 1, 8, 0}, std::string(2, '\0')));
  const std::vector<std::string> names = {"config.json", "metrics.jsonl", "tape.jsonl", "files.jsonl",
                                          "probes.jsonl"};
  // The content of all files in one, each behind its length.
  const auto assemble = [&](const FilePieces& parts) {
    std::string out;
    for (size_t i = 0; i < std::min(parts.size(), names.size()); ++i) {
      const std::string content = i == 0 ? summed(parts[i].bytes) : summed_lines(parts[i].bytes);
      out += little_endian(uint32_t(content.size())) + content;
    }
    return out;
  };
  read_mutated(
      {.file = "run.parts",
       .good =
           {{{"", kConfig}, {"", with_copy(kMetrics)}, {"", kTapes}, {"", with_copy(kFiles)}, {"", kProbes}}},
       .words = kJsonWords,
       .nests = kJsonNests,
       .assemble = assemble,
       .read = [&](const std::string& path) {
         const std::string all = read_file(path);
         size_t at = 0;
         for (const std::string& name : names) {
           uint32_t size = 0;
           if (all.size() - at >= 4) std::memcpy(&size, all.data() + at, 4);
           at = std::min(all.size(), at + 4);
           folder.with("run/" + name, all.substr(at, size));
           at = std::min(all.size(), at + size);
         }
         read_run_folder(folder.file("run"));
       }});
}

TEST_CASE("mutated tapes") {
  const std::string tape =
      R"([{"id":1,"op":"leaf","name":"w","shape":[2],"dtype":"f32","value":[2,0,0,0,1,2,1.5,2.2]},)"
      R"({"id":2,"op":"mul","shape":[2],"dtype":"f32","file":"a.lua","line":3,"inputs":[{"node":1},{"tensor":9,"name":"x","shape":[2],"dtype":"f32"}]}])";
  read_mutated({.file = "tape.json",
                .good = {{{"", tape}}, {{"", "{\"nodes\":" + tape + "}"}}},
                .words = kJsonWords,
                .nests = kJsonNests,
                .assemble = first_part,
                .read = [](const std::string& path) {
                  const ReadersLimit limit;
                  read_tape_file(path);
                }});
}

TEST_CASE("mutated keyframes") {
  const auto body = [](const Snapshot& states) {
    Keyframe keyframe;
    keyframe.step = 40;
    keyframe.content = {Snapshot::Table{{{"states"s}, states}, {{"rng"s}, {int64_t(3)}}}};
    keyframe.params = {{"rate", "0.1", "0.2", "0.1", true}};
    std::string bytes = encode(keyframe);
    bytes.resize(bytes.size() - sizeof(uint64_t));
    return FilePieces{{"", bytes}};
  };
  const Snapshot::Array weights{DType::f32, {2, 3}, false, std::string(24, 'w')},
      flags{DType::boolean, {2}, true, "\0\1"s};
  const Snapshot::Table inner{
      {{"weight"s}, {weights}}, {{int64_t(7)}, {0.5}}, {{true}, {std::monostate()}}, {{0.25}, {flags}}};
  read_mutated(
      {.file = "step-00000040.keyframe",
       .good = {body({inner}), body({Snapshot::Table{{{"model"s}, {inner}}, {{"text"s}, {"words"s}}}})},
       .words = {"\0"s, "\1\1", "\4\5\0\0\0\0\0\0\0words"s, "\6\0\0\0\0\0\0\0\0"s,
                 "\6\xff\xff\xff\xff\xff\xff\xff\xff", "\5"},
       .nests = {{"\6\1\0\0\0\0\0\0\0\0"s, ""}, {"\6\1\0\0\0\0\0\0\0"s, std::string(1, '\0')}},
       .assemble =
           [](const FilePieces& parts) {
             const std::string bytes = first_part(parts);
             return bytes + little_endian(hash_of(bytes.data(), bytes.size()));
           },
       .read =
           [](const std::string& path) {
             const ReadersLimit limit;
             const Keyframe keyframe = decode(read_file(path), path);
             kept_of(keyframe.content);
           }});
}

TEST_CASE("mutated event files") {
  const Folder folder;
  std::string content;
  {
    EventFile events(folder.file(""), [](const std::string&) {});
    events.scalar("loss", 0.5, 1, 1.0);
    events.text("words", "text", 2, 2.0);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.file("")))
    content = read_file(entry.path().string());
  read_mutated({.file = "events.out.tfevents.1",
                .good = {{{"", content}}},
                .words = {},
                .nests = {},
                .assemble = first_part,
                .read = [](const std::string& path) {
                  const ReadersLimit limit;
                  const std::string damage = damage_of_event_file(read_file(path));
                  if (!damage.empty()) fail(damage);
                }});
}
