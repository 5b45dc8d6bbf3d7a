// Mutated models, and the files of runs, sweeps and bundles.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/io/atomic_file.h"
#include "runtime/io/checksum.h"
#include "runtime/io/zip_archive.h"
#include "script/bundle/bundle.h"
#include "script/check/check.h"
#include "script/lua/kept.h"
#include "script/report/run_report.h"
#include "script/run/event_file.h"
#include "script/run/json.h"
#include "script/run/record.h"
#include "script/run/used_files.h"
#include "script/sweep/plan.h"
#include "script/sweep/result.h"
#include "script/tape_diff/read.h"
#include "script/time/keyframe.h"
#include "script/time/probe_file.h"
#include "script/time/timeline.h"
#include "tests/fuzz/protobuf.h"
#include "tests/fuzz/reading.h"
#include "tests/support/png_bytes.h"
#include "tests/support/zip_bytes.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kJsonWords = {"{",
                                             "}",
                                             "[",
                                             "]",
                                             ":",
                                             ",",
                                             "\"",
                                             "null",
                                             "true",
                                             "-1",
                                             "1e400",
                                             "0.5",
                                             "\"a\"",
                                             "\"\"",
                                             "{}",
                                             "[]",
                                             "\\u0000",
                                             "\"NaN\"",
                                             "\"Infinity\"",
                                             "18446744073709551616",
                                             "-9223372036854775808",
                                             "\"step\"",
                                             "\"time\"",
                                             "\"metrics\"",
                                             "\"image\"",
                                             "\"text\"",
                                             "\"histogram\"",
                                             "\"param\"",
                                             "\"resume\"",
                                             "\"reload\"",
                                             "\"checkpoint\"",
                                             "\"console\"",
                                             "\"module\"",
                                             "\"watch\"",
                                             "\"nodes\"",
                                             "\"values\"",
                                             "\"sources\"",
                                             "\"like\"",
                                             "\"in\"",
                                             "\"shape\"",
                                             "\n",
                                             "\xff"};
const std::vector<std::pair<std::string, std::string>> kJsonNests = {{"[", "]"}, {"{\"a\":", "}"}};

// Adds the checksum that readers compare to every second text of one JSON object.
std::string summed(const std::string& object) {
  return object.size() % 2 && object.find('}') != object.npos && object.size() > 1 ? with_checksum(object)
                                                                                   : object;
}
std::string summed_lines(const std::string& lines) {
  std::string out;
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    out += summed(lines.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

const std::string kScript = "return 1\n";
const std::string kConfig =
    R"({"script":"train.lua","arguments":["a",""],"command_line":"lunagrad train.lua","started":"2026-01-31T23:59:59Z","seed":3,)"
    R"("device":"cpu","threads":2,"steps":9,"steps_option":9,"parent":{"run":"runs/a","step":2,"changed":true},)"
    R"("resumed":{"checkpoint":"c","step":2},"reloads":[{"step":2,"script":"script-00000002.lua"}],)"
    R"("scripts":{"script.lua":")" +
    checksum_text(hash_of(kScript.data(), kScript.size())) +
    R"("},"set":{"rate":"0.1"},"params":{"rate":0.1,"name":"x"},"outcome":"finished",)"
    R"("exit_code":0,"last_step":9,"seconds":1.5})";
const std::string kMetrics =
    R"({"step":1,"time":0.1,"metrics":{"loss":0.5,"acc":"NaN"}})"
    "\n"
    R"({"step":1,"time":0.1,"param":{"rate":0.2}})"
    "\n"
    R"({"step":2,"time":0.2,"image":{"x":"x-1.png"}})"
    "\n"
    R"({"step":2,"time":0.2,"text":{"t":"words"}})"
    "\n"
    R"({"step":2,"time":0.2,"histogram":{"h":{"count":3,"min":0,"max":1,"mean":0.5,"std":0.1,"zeros":0,"nan":0,"inf":0,"-inf":0,"edges":[0,1],"counts":[3]}}})"
    "\n"
    R"({"step":2,"time":0.3,"checkpoint":"checkpoints/step-00000002.safetensors"})"
    "\n"
    R"({"step":2,"time":0.3,"watch":{"m":{"norm":1}}})"
    "\n"
    R"({"step":1,"time":0.4,"resume":"checkpoints/step-00000001.safetensors","abandons":[2]})"
    "\n"
    R"({"step":1,"time":0.4,"reload":"script-00000001.lua"})"
    "\n"
    R"({"step":1,"time":0.5,"console":{"code":"x = 1","place":"op","ops":3,"line":4}})"
    "\n"
    R"({"step":0,"time":0,"module":{"file":"m.lua","copy":"modules/COPY"}})"
    "\n";
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

TEST_CASE("mutated sweeps and their results") {
  const Folder folder;
  fs::create_directories(folder.file("results"));
  const sweep::Leg leg{1, 0, 0, "abc"};
  const std::string name = "results/" + leg.name() + ".json";
  read_mutated(
      {.file = "result.json",
       .good = {{{"", R"({"trial":1,"leg":0,"ending":"finished","value":0.5,"value_step":3,"steps":9})"}},
                {{"", R"({"trial":1,"leg":0,"ending":"failed","steps":0,"error":"x","exit_code":1})"}}},
       .words = kJsonWords,
       .nests = kJsonNests,
       .assemble = [](const FilePieces& parts) { return summed(first_part(parts)); },
       .read =
           [&](const std::string& path) {
             const ReadersLimit limit;
             fs::copy_file(path, folder.file(name), fs::copy_options::overwrite_existing);
             sweep::read_result(folder.file(""), leg);
           }});
  const std::string plan =
      R"({"lunagrad_sweep":1,"script":"/tmp/t.lua","script_hash":"0","directory":"/tmp","arguments":["a"],"seed":1,"metric":"loss","maximize":false,)"
      R"("device":"cpu","threads":1,"guard":"off","checkpoint_every":1.5,"steps":9,"asha":{"eta":3,"smallest":1,"legs":3},"set":{"a":"1"},)"
      R"("axes":[{"name":"rate","grid":"0.1,0.2"},{"name":"width","random":"1..8"}],"trials":[["0.1","2"],["0.2","3"]]})";
  read_mutated({.file = "sweep.json",
                .good = {{{"", plan}}},
                .words = kJsonWords,
                .nests = kJsonNests,
                .assemble = [](const FilePieces& parts) { return summed(first_part(parts)); },
                .read =
                    [](const std::string& path) {
                      const ReadersLimit limit;
                      sweep::read_plan(fs::path(path).parent_path().string());
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

TEST_CASE("mutated ONNX models") {
  const Folder folder;
  ReadingScript script;
  script.run(
      "local nn = lg.nn "
      "lg.io.onnx_export(path .. '/mlp', nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.BatchNorm1d(4), "
      "nn.Linear(4, 2), nn.Softmax(2)), lg.ones(2, 3)) "
      "lg.io.onnx_export(path .. '/cnn', nn.Sequential(nn.Conv2d(1, 2, 3, {padding = 1}), nn.MaxPool2d(2), "
      "nn.Flatten(), nn.Linear(8, 2)), lg.ones(1, 1, 4, 4)) "
      "lg.io.onnx_export(path .. '/ops', function(x) local y = x:reshape(3, 2):t():cumsum(2) return "
      "lg.cat({y, x}, 1):pad{1, 1}, "
      "x:sum(1), x[{{1, 1}}]:expand(4, 3), x:gt(0):float(), lg.topk(x, 2) end, lg.ones(2, 3))",
      folder.file(""));
  std::vector<FilePieces> good;
  for (const char* name : {"mlp", "cnn", "ops"}) good.push_back({{"", read_file(folder.file(name))}});
  read_mutated(
      {.file = "x.onnx",
       .good = good,
       .words = {"Relu", "Gemm", "Conv", "Slice", "Reshape", "Softmax", "Resize", "LSTM", "axis", "alpha", "",
                 ".", "4"},
       .nests = {},
       .assemble = first_part,
       .read =
           [&](const std::string& path) {
             script.run(
                 "local model, messages = lg.io.onnx_import(path), {} "
                 "for i, shape in ipairs {{2, 3}, {1, 1, 4, 4}} do local inputs = {} "
                 "for k in ipairs(model._graph.inputs) do inputs[k] = lg.ones(shape) end "
                 "local ok, message = pcall(lg.no_grad, function() return model(table.unpack(inputs)) end) "
                 "if ok then return end messages[i] = tostring(message) end "
                 "error(table.concat(messages, '; '))",
                 path);
           },
       .change =
           [](Mutator& mutator, const std::string& bytes, const std::string& other) {
             std::string out = ProtobufMutator(mutator).mutated(bytes, other);
             while (mutator.one_in(3)) out = ProtobufMutator(mutator).mutated(out, other);
             return out.size() < (1 << 18) ? out : bytes;
           }});
}
