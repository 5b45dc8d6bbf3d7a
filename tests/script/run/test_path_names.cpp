// Files and folders whose names are not UTF-8: text about them is UTF-8, and they are found again.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/path_text.h"
#include "script/run/record.h"
#include "script/run/used_files.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Names in ISO 8859-1, as old archives and disks have them, one with a backslash.
struct Named {
  Folder folder;
  const std::string place = "caf\xe9", script = place + "/tr\xe4in.lua", data = place + "/d\xe4ta\\x41.csv",
                    run = place + "/r\xfcn";

  Named() {
    fs::create_directories(folder.path() + "/" + place);
    folder.write(data, "1,2\n3,4\n");
    folder.write(place +
                     "/m\xf6"
                     "d.lua",
                 "return 2\n");
    folder.write(script,
                 "local lg = require 'lunagrad'\nlocal scale = require 'm\xf6"
                 "d'\n"
                 "lg.run.param('p', 'none')\n"
                 "local x = lg.io.csv.load(arg[1])\nlocal w = lg.ones(2, {requires_grad = true})\n"
                 "w = lg.run.state('w', function() return lg.nn.Parameter(w:detach()) end)\n"
                 "for step in lg.run.steps(3) do\n  local y = (x * w):sum() * scale\n  y:backward()\n"
                 "  lg.run.log{y = y}\n  lg.run.checkpoint()\nend\n");
  }
  Finished must(const std::vector<std::string>& arguments) const {
    const Finished done = folder.run(arguments);
    CAPTURE(arguments[0]);
    CAPTURE(done.out);
    CAPTURE(done.err);
    REQUIRE(done.code == 0);
    return done;
  }
  std::string file(const std::string& name) const { return folder.path() + "/" + name; }
};

}  // namespace

TEST_CASE("runs, bundles and results of files whose names are no UTF-8") {
  const Named made;
  const Finished ran =
      made.must({"run", "--json", "--run-dir", made.run, made.script, "--set", "p=\xff", "--", made.data});
  std::istringstream lines(ran.out);
  std::string path;
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line);
    if (event["event"] == "start") {
      CHECK(path_of_text(event["script"].get<std::string>()) == made.script);
      CHECK(path_of_text(event["arguments"][0].get<std::string>()) == made.data);
    }
    if (event["event"] == "run") path = path_of_text(event["path"].get<std::string>());
  }
  CHECK(path == made.run);
  const RunRecord record = read_run(made.file(made.run));
  CHECK(record.script == made.script);
  CHECK(record.arguments == std::vector<std::string>{made.data});
  CHECK(record.set.at("p") == "\xff");
  const std::vector<UsedFile> files = used_files(made.file(made.run)).files;
  REQUIRE(files.size() == 2);
  CHECK(files[0].path == made.place +
                             "/m\xf6"
                             "d.lua");
  CHECK(files[1].path == made.data);
  CHECK(files[1].absolute == made.file(made.data));

  CHECK(path_of_text(json::parse(made.must({"runs", "--in", made.place, "ls", "--json"}).out)["folder"]
                         .get<std::string>()) == made.run);
  CHECK(path_of_text(
            json::parse(made.must({"runs", "show", made.run, "--json"}).out)["script"].get<std::string>()) ==
        made.script);
  CHECK(path_of_text(json::parse(made.must({"info", made.data, "--json"}).out)["file"].get<std::string>()) ==
        made.data);
  made.must({"runs", "check", made.run});
  made.must({"repro", made.run});

  const std::string bundle = made.place + "/b\xfcndle.run";
  made.must({"bundle", made.run, "-o", bundle, "--checkpoints"});
  const json packed = json::parse(made.must({"info", bundle, "--json"}).out);
  CHECK(path_of_text(packed["script"].get<std::string>()) == made.script);
  CHECK(path_of_text(packed["files"][1]["path"].get<std::string>()) == made.data);
  made.must({"runs", "check", bundle});
  fs::rename(made.file(bundle), made.file("x.run"));
  fs::remove_all(made.file(made.place));
  made.must({"repro", "x.run"});
}

TEST_CASE("a file in a run's folder whose name is no UTF-8 is part of the bundle") {
  const Named made;
  made.must({"run", "--run-dir", made.run, made.script, "--", made.data});
  made.folder.write(made.run + "/own\xff.txt", "some words");
  made.must({"bundle", made.run, "-o", "x.run"});
  CHECK(json::parse(made.must({"info", "x.run", "--json"}).out)["run"]["own\\xff.txt"] == 10);
  made.must({"repro", "x.run"});
}

TEST_CASE("results of tests are XML also for a file whose name is no UTF-8") {
  const Named made;
  made.folder.write(made.place + "/test_\xe9.lua", "return true\n");
  made.must({"test", made.place + "/test_\xe9.lua", "--junit", "x.xml"});
  const std::string xml = read_file(made.file("x.xml"));
  CHECK(xml.find("classname=\"caf\\xe9/test_\\xe9.lua\"") != xml.npos);
  CHECK_NOTHROW(json(xml).dump());
}
