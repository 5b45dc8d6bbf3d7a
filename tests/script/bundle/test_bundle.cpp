// Bundles: a run is repeated elsewhere from one file, data of which only a fingerprint is packed are checked,
// and a hostile or damaged bundle does no harm.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "script/bundle/manifest.h"
#include "script/trust/inside.h"
#include "tests/script/trust/folders.h"
#include "tests/support/damage.h"
#include "tests/support/program.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// A script in a folder of its own, with a module, a data file and one at an absolute path.
struct Origin {
  Folder folder;
  std::string absolute;

  Origin() {
    fs::create_directories(folder.path() + "/lib");
    fs::create_directories(folder.path() + "/data");
    folder.write("lib/scale.lua", "return 2\n");
    folder.write("data/x.csv", "1,2\n3,4\n");
    absolute = folder.write("words.txt", "some words");
    folder.write(
        "train.lua",
        "local lg = require 'lunagrad'\nlocal scale = require 'lib.scale'\n"
        "local x = lg.io.csv.load('data/x.csv')\n"
        "local f = io.open(arg[1]) local words = #f:read('a') f:close()\n"
        "local out = io.open('own.txt', 'w') out:write('own') out:close()\n"
        "for line in io.lines('own.txt') do assert(line == 'own') end\n"
        "for step in lg.run.steps(4) do lg.run.log{y = (x * scale + lg.rand(2, 2)):sum() + words} end\n");
    REQUIRE(folder.run({"run", "train.lua", "--run-dir", "r", "--seed", "3", "--", absolute}).code == 0);
  }
  std::string pack(const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> command{"bundle", "r", "-o", "x.run"};
    command.insert(command.end(), flags.begin(), flags.end());
    const Finished packed = folder.run(command);
    CAPTURE(packed.err);
    REQUIRE(packed.code == 0);
    return folder.path() + "/x.run";
  }
  void remove(const std::string& name) const { fs::remove_all(folder.path() + "/" + name); }
};

// `lunagrad repro` of a bundle with a folder for temporary files of its own, which must be empty at its end.
// `limit`: no file may grow beyond so many KiB, to simulate a full disk.
Finished repeated(const std::string& bundle, const std::string& limit = "unlimited") {
  const Folder here, temporary;
  const std::string command = "ulimit -f " + limit + "; exec " + kProgram + " repro " + bundle;
  const Finished done =
      Program({"bash", "-c", command}, "", {"TMPDIR=" + temporary.path()}, here.path()).finish();
  CHECK(fs::is_empty(temporary.path()));
  CHECK(fs::is_empty(here.path()));
  return done;
}

}  // namespace

TEST_CASE("a run's folder lists the files that its script read, and keeps its modules") {
  const Origin origin;
  const std::vector<UsedFile> files = used_files(origin.folder.path() + "/r").files;
  REQUIRE(files.size() == 3);
  CHECK(files[0].kind == UsedFile::Kind::module);
  CHECK(read_file(origin.folder.path() + "/r/" + files[0].copy) == "return 2\n");
  CHECK(files[1].path == "data/x.csv");
  CHECK(files[1].bytes == 8);
  CHECK(files[2].path == origin.absolute);
}

TEST_CASE("a bundle is repeated where nothing else of the run is") {
  const Origin origin;
  origin.folder.write("lib/scale.lua", "return 3\n");  // the bundle has the module of the run
  const std::string bundle = origin.pack();
  for (const char* name : {"train.lua", "lib", "data", "words.txt", "r"}) origin.remove(name);
  const Folder elsewhere;
  for (const bool sandbox : {false, true}) {
    CAPTURE(sandbox);
    std::vector<std::string> command{"repro", bundle};
    if (sandbox) command.push_back("--sandbox");
    const Finished again = elsewhere.run(command);
    CAPTURE(again.err);
    if (sandbox) {
      CHECK(again.code != 0);  // the script calls io.open, which a sandbox lacks
      CHECK(again.err.find("'io'") != std::string::npos);
    } else {
      CHECK(again.code == 0);
      CHECK(again.out.find("reproduced: 4 numbers of 4 steps are the same") != std::string::npos);
    }
  }
  CHECK(fs::is_empty(elsewhere.path()));
  CHECK(elsewhere.run({"runs", "show", bundle}).out.find("train.lua") != std::string::npos);
  const json info = json::parse(elsewhere.run({"info", bundle, "--json"}).out);
  CHECK(info["format"] == "bundle");
  CHECK(info["files"].size() == 3);
  CHECK(info["files"][1]["packed"] == true);
  CHECK(info["run"].contains("metrics.jsonl"));
  CHECK(!info["run"].contains("own.txt"));
}

TEST_CASE("a number that differs is told") {
  const Origin origin;
  const std::string metrics = origin.folder.path() + "/r/metrics.jsonl";
  std::string text = read_file(metrics);
  const size_t third = text.find("\"step\":3");
  const size_t value = text.find("\"y\":", third) + 4;
  text.replace(value, text.find('}', value) - value, "1.5");
  origin.folder.write("r/metrics.jsonl", text);
  const Finished again = Folder().run({"repro", origin.pack()});
  CHECK(again.code == 7);
  CHECK(again.out.find("not reproduced: step 3: y is ") != std::string::npos);
  CHECK(again.out.find(", was 1.5") != std::string::npos);
}

TEST_CASE("larger data have only a fingerprint, and must be the same here") {
  const Origin origin;
  const std::string bundle = origin.pack({"--data", "10B"});
  const json info = json::parse(origin.folder.run({"info", bundle, "--json"}).out);
  CHECK(info["files"][0]["packed"] == true);  // a module
  CHECK(info["files"][1]["packed"] == false);
  const Folder elsewhere;
  CHECK(elsewhere.run({"repro", bundle}).code == 0);  // the data are still in their place
  fs::rename(origin.folder.path() + "/data", origin.folder.path() + "/moved");
  const Finished missing = elsewhere.run({"repro", bundle});
  CHECK(missing.code == 6);
  CHECK(missing.err.find("data/x.csv: the run in " + bundle + " read 8 bytes with the SHA-256 ") !=
        std::string::npos);
  CHECK(missing.err.find("is not here") != std::string::npos);
  fs::create_directories(elsewhere.path() + "/data");
  elsewhere.write("data/x.csv", "1,2\n3,5\n");
  const Finished other = elsewhere.run({"repro", bundle});
  CHECK(other.code == 6);
  CHECK(other.err.find("here are other 8 bytes with the SHA-256 ") != std::string::npos);
  elsewhere.write("data/x.csv", "1,2\n3,4\n");
  CHECK(elsewhere.run({"repro", bundle}).code == 0);
}

TEST_CASE("a run is not packed with data that it did not read") {
  const Origin origin;
  origin.folder.write("data/x.csv", "1,2\n3,44\n");
  const Finished changed = origin.folder.run({"bundle", "r"});
  CHECK(changed.code == 6);
  CHECK(changed.err.find("data/x.csv: has 9 bytes, and had 8 when the run read it") != std::string::npos);
  origin.remove("data");
  const Finished gone = origin.folder.run({"bundle", "r"});
  CHECK(gone.code == 6);
  CHECK(gone.err.find("it is gone") != std::string::npos);
  CHECK(!fs::exists(origin.folder.path() + "/r.run"));
  CHECK(origin.folder.run({"bundle", "nothing"}).code == 6);
  CHECK(origin.folder.run({"bundle", "r", "-o", "train.lua"}).code == 6);
  CHECK(read_file(origin.folder.path() + "/train.lua").starts_with("local lg"));
}

TEST_CASE("folders of images travel, and checkpoints if asked for") {
  const Folder folder;
  folder.write("make.lua",
               "local lg = require 'lunagrad' for i = 1, 2 do lg.io.png.save(('data/c%d/a.png'):format(i), "
               "lg.ones(1, 2, "
               "2) * i / 2) end");
  for (const char* name : {"data/c1", "data/c2"}) fs::create_directories(folder.path() + "/" + name);
  folder.write("train.lua",
               "local lg = require 'lunagrad'\nlocal set = lg.data.image_folder('data')\n"
               "local w = lg.run.state('w', function() return lg.zeros(2) end)\n"
               "for step in lg.run.steps(2) do local x = set[step] x = type(x) == 'table' and x[1] or x "
               "lg.run.log{n = #set, sum = x:to('f32'):sum()} lg.run.checkpoint() end\n");
  const Finished made = folder.run({"run", "make.lua"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  const Finished run = folder.run({"run", "train.lua", "--run-dir", "r"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  REQUIRE(folder.run({"bundle", "r"}).code == 0);
  json info = json::parse(folder.run({"info", "r.run", "--json"}).out);
  CHECK(!info["run"].contains("checkpoints/step-00000002.safetensors"));
  REQUIRE(folder.run({"bundle", "r", "--checkpoints"}).code == 0);
  info = json::parse(folder.run({"info", "r.run", "--json"}).out);
  CHECK(info["run"].contains("checkpoints/step-00000002.safetensors"));
  fs::remove_all(folder.path() + "/data");
  const Finished again = Folder().run({"repro", folder.path() + "/r.run"});
  CAPTURE(again.err);
  CHECK(again.code == 0);
}

TEST_CASE("a hostile bundle is refused before anything is written") {
  const Folder folder;
  json manifest{{"format", "lunagrad bundle"}, {"version", 1},           {"lunagrad", "1"},
                {"script", "a.lua"},           {"files", json::array()}, {"left_out", json::array()}};
  const std::string sound = manifest.dump();
  const std::pair<std::string, std::string> script{"run/script.lua", "error('must not run')"};
  const auto refused = [&](const std::string& path, const std::string& why) {
    const Finished info = folder.run({"info", path}), repro = repeated(path);
    CAPTURE(why);
    CAPTURE(repro.err);
    CHECK(info.code == 6);
    CHECK(repro.code == 6);
    CHECK(repro.err.find(why) != std::string::npos);
  };
  for (const char* name :
       {"run/../../evil", "../evil", "/tmp/evil", "run//evil", "run/./evil", "run/a\\..\\evil", "evil"})
    refused(assemble(folder.path() + "/made.run", sound, {script, {name, "x"}}),
            "does not belong into a bundle");
  refused(assemble(folder.path() + "/made.run", "{", {script}), "bundle.json is damaged");
  refused(assemble(folder.path() + "/made.run", "[1]", {script}), "bundle.json is damaged");
  manifest["version"] = 99;
  refused(assemble(folder.path() + "/made.run", manifest.dump(), {script}), "a bundle of a later version");
  manifest["version"] = 1;
  manifest["files"] = {{{"kind", "data"},
                        {"path", "x.csv"},
                        {"origin", "/x.csv"},
                        {"bytes", 3},
                        {"sha256", std::string(64, '0')},
                        {"entry", "files/1"}}};
  refused(assemble(folder.path() + "/made.run", manifest.dump(), {script}), "x.csv is not in it as 3 bytes");
  const std::string path = assemble(
      folder.path() + "/made.run", manifest.dump(),
      {script, {"run/config.json", "{\"script\":\"a.lua\"}"}, {"run/metrics.jsonl", ""}, {"files/1", "1,2"}});
  CHECK(folder.run({"info", path}).code == 0);
  const std::vector<std::string> home{"XDG_DATA_HOME=" + folder.path() + "/home"};
  CHECK(folder.run({"repro", path}, "", home).code == 2);  // it was not made here
  const Finished repro = folder.run({"repro", path, "--trust"}, "", home);
  CHECK(repro.code == 6);
  CHECK(repro.err.find("x.csv is damaged") != std::string::npos);
}

TEST_CASE("a bundle that is cut off anywhere ends with 6") {
  const Origin origin;
  const std::string whole = read_file(origin.pack());
  for (const size_t part : {2, 3, 5, 10}) {
    const std::string cut = origin.folder.write("cut.run", whole.substr(0, whole.size() * (part - 1) / part));
    CHECK(repeated(cut).code == 6);
    CHECK(origin.folder.run({"info", cut}).code == 6);
  }
  std::string damaged = whole;
  for (size_t at = 100; at < damaged.size() / 2; at += 97) damaged[at] = char(damaged[at] ^ 0x55);
  CHECK(repeated(origin.folder.write("damaged.run", damaged)).code == 6);
}

TEST_CASE("a damaged bundle is unpacked as it was packed, or is an error that names the member") {
  const Origin origin;
  const std::string path = origin.pack(), good = read_file(path);
  const auto content = [](const std::string& bundle) {
    const Folder to;
    std::map<std::string, std::string> files;
    unpack_bundle(bundle, to.path(), false, {});
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(to.path()))
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(to.path()).string()] = read_file(entry.path().string());
    return files;
  };
  const auto wanted = content(path);
  verify_bundle(path);
  std::mt19937_64 random(4);
  const int count = tests::long_run() ? 1000 : 200;
  int errors = 0, named = 0;
  for (int i = 0; i < count; ++i) {
    const tests::Damaged bad = tests::damaged(good, random);
    CAPTURE(bad.what);
    const std::string other = origin.folder.write("bad.run", bad.content);
    try {
      verify_bundle(other);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::file);
      ++errors;
      named += std::string(error.what()).find("'") != std::string::npos;
      continue;
    }
    CHECK(content(other) == wanted);  // the change is in bytes that are not read, such as a date
  }
  CHECK(errors > count / 2);
  CHECK(named > errors / 3);

  // The error for a truncated bundle names the member where the bundle ends.
  const size_t script = good.find("run/script.lua");
  CHECK_THROWS_WITH(verify_bundle(origin.folder.write("bad.run", good.substr(0, script + 40))),
                    doctest::Contains("it is cut within 'run/script.lua'"));
  std::string bad = good;
  bad[script + 20] = char(bad[script + 20] ^ 1);
  const Finished checked = origin.folder.run({"runs", "check", origin.folder.write("bad.run", bad)});
  CAPTURE(checked.out);
  CHECK(checked.code == 6);
  CHECK(checked.out.find("'run/script.lua'") != std::string::npos);
}

TEST_CASE("a full disk is an error while a bundle is unpacked, and none of the numbers' when it runs") {
  const Folder folder;
  folder.write("train.lua",
               "local lg = require 'lunagrad'\nlocal x = 0\n"
               "for step in lg.run.steps(1000) do x = x + 0.125 lg.run.log{x = x} end\n");
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "r"}).code == 0);
  // The rows that are compared are shorter than those that are written now.
  std::istringstream rows(read_file(folder.path() + "/r/metrics.jsonl"));
  std::string shorter;
  for (std::string row; std::getline(rows, row);) {
    json parsed = json::parse(row);
    parsed["time"] = 0;
    shorter += parsed.dump() + "\n";
  }
  folder.write("r/metrics.jsonl", shorter);
  REQUIRE(folder.run({"bundle", "r", "-o", "x.run"}).code == 0);
  const std::string bundle = folder.path() + "/x.run";
  const size_t kib = (shorter.size() + 1023) / 1024;
  REQUIRE(kib > 20);
  const Finished unpacked = repeated(bundle, std::to_string(kib));
  CAPTURE(unpacked.err);
  CHECK(unpacked.err.find("metrics.jsonl: File too large; the run goes on without it") != std::string::npos);
  CHECK(unpacked.out.find("reproduced: 1000 numbers of 1000 steps") != std::string::npos);
  CHECK(unpacked.code == 0);
  const Finished full = repeated(bundle, std::to_string(kib / 2));
  CAPTURE(full.err);
  CHECK(full.code == 6);
  CHECK(full.err.find("metrics.jsonl") != std::string::npos);
  CHECK(full.err.find("File too large") != std::string::npos);
}

TEST_CASE("a file of a script that lay outside of its folder stays inside when it is unpacked") {
  const Folder folder;
  fs::create_directories(folder.path() + "/a/b");
  const std::string outside = folder.write("outside.csv", "1,2\n");
  folder.write("a/b/train.lua",
               "local lg = require 'lunagrad'\nlocal x = lg.io.csv.load(arg[1])\n"
               "for step in lg.run.steps(2) do lg.run.log{x = x:sum()} end\n");
  const Finished run = Program({kProgram, "run", "train.lua", "--run-dir", "r", "--", "../../outside.csv"},
                               "", {}, folder.path() + "/a/b")
                           .finish();
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  REQUIRE(folder.run({"bundle", "a/b/r", "-o", "x.run"}).code == 0);
  fs::remove(outside);
  const Finished again = repeated(folder.path() + "/x.run");
  CAPTURE(again.err);
  CHECK(again.code == 0);
  CHECK(!fs::exists(outside));
}

TEST_CASE("paths of a script get a place inside of the folder") {
  CHECK(place_inside("a/b.csv") == "a/b.csv");
  CHECK(place_inside("./a/../b.csv") == "b.csv");
  CHECK(place_inside("/etc/passwd") == "outside/etc/passwd");
  CHECK(place_inside("../../x") == "outside/up/up/x");
  CHECK(place_inside("a/../../x") == "outside/up/x");
  for (const char* path : {"", "/a", "..", "a/..", "a//b", "a/", "./a", "a\\b"}) {
    CAPTURE(path);
    CHECK(!stays_inside(path));
  }
  CHECK(stays_inside("run/images/a.png"));
}
