// Attacks by run folders, bundles and sweeps that an attacker has made or changed. None may run code with the
// user's rights, read data that the user has not given, or write over a file. The secret is a number that no
// output may hold.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/io/sha256.h"
#include "runtime/io/zip_archive.h"
#include "script/run/json.h"
#include "script/trust/marks.h"
#include "tests/script/trust/folders.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

using Words = std::vector<std::string>;

// Prepares what the victim gets, and returns the commands that the victim types.
struct Attack {
  const char* name;
  std::function<std::vector<Words>(const TwoUsers&)> prepare;
  const char* expected = "";  // what the last command says about it, on either stream
};

std::vector<Words> each(const Words& command) { return {command}; }

// ---- changes of a run that was the user's own

// Changes a run of the user's own, which then asks.
Attack changed(const char* name, std::function<void(const TwoUsers&)> change) {
  return {name,
          [change](const TwoUsers& users) {
            users.own_run("r", {"--keyframes", "8MiB"});
            change(users);
            return std::vector<Words>{{"repro", "r"}, {"probe", "r", "1"}, {"fork", "r", "--step", "2"}};
          },
          "--trust"};
}

// With the checksums that an attacker can compute, too.
void replace_script(const TwoUsers& users, bool with_sums) {
  const std::string evil = "if io then io.popen('touch " + users.pwned + "'):close() end\n" + kHonest;
  users.folder.write("r/script.lua", evil);
  users.change_config("r", [&](Json& config) {
    config.erase("scripts");
    if (with_sums) config["sha256"]["script.lua"] = sha256_of(evil);
  });
}

std::string console_row(const TwoUsers& users) {
  const Json console{
      {"code", "io.popen('touch " + users.pwned + "'):close()"}, {"place", "op"}, {"ops", 1}, {"line", 0}};
  return Json{{"step", 1}, {"time", 0.1}, {"console", console}}.dump();
}

std::string row_of(const TwoUsers& users, const std::string& run, const std::string& word) {
  const std::string text = read_file(users.at(run + "/metrics.jsonl"));
  const size_t place = text.find(word), begin = text.rfind('\n', place) + 1;
  REQUIRE(place != text.npos);
  return text.substr(begin, text.find('\n', place) - begin);
}

std::string mark_in(const std::string& row) { return Json::parse(row)["mark"]; }

const std::vector<Attack> kChanges{
    changed("another script", [](const TwoUsers& users) { replace_script(users, false); }),
    changed("another script with its SHA-256", [](const TwoUsers& users) { replace_script(users, true); }),
    changed("another path of the script",
            [](const TwoUsers& users) {
              users.change_config("r", [&](Json& config) { config["script"] = users.at("private/x.lua"); });
            }),
    changed("other arguments",
            [](const TwoUsers& users) {
              users.change_config("r", [](Json& config) { config["arguments"] = {"--delete"}; });
            }),
    changed("another value of --set",
            [](const TwoUsers& users) {
              users.change_config("r", [](Json& config) { config["set"]["rate"] = "2"; });
            }),
    changed("a repeated key, of which a reader takes the second",
            [](const TwoUsers& users) {
              std::string text = read_file(users.at("r/config.json"));
              text.replace(text.find("\"checksummed\": true"), 19, "\"seed\": 7");
              text = text.substr(0, text.find(",\n  \"checksum\"")) + ",\n  \"seed\": 9\n}\n";
              users.folder.write("r/config.json", text);
            }),
    changed("a line of the console without a mark",
            [](const TwoUsers& users) { users.append("r/metrics.jsonl", console_row(users)); }),
    changed("a line of the console with the mark of another row",
            [](const TwoUsers& users) {
              std::string row = console_row(users);
              row.back() = ',';
              users.append("r/metrics.jsonl",
                           row + "\"mark\":\"" + mark_in(row_of(users, "r", "\"module\"")) + "\"}");
            }),
    changed("a line of the console whose key is escaped",
            [](const TwoUsers& users) {
              std::string row = console_row(users);
              users.append("r/metrics.jsonl", row.replace(row.find("console"), 7, "cons\\u006fle"));
            }),
    changed("an edit of a parameter whose key is escaped",
            [](const TwoUsers& users) {
              users.append("r/metrics.jsonl", R"({"step":1,"time":0.1,"par\u0061m":{"rate":5}})");
            }),
    changed("a row twice",
            [](const TwoUsers& users) { users.append("r/metrics.jsonl", row_of(users, "r", "\"module\"")); }),
    changed("a row of another own run",
            [](const TwoUsers& users) {
              users.own_run("other");
              users.append("r/metrics.jsonl", row_of(users, "other", "\"module\""));
            }),
    changed("config.json of another own run",
            [](const TwoUsers& users) {
              users.own_run("other", {"--seed", "5"});
              fs::copy_file(users.at("other/config.json"), users.at("r/config.json"),
                            fs::copy_options::overwrite_existing);
            }),
    changed(
        "no mark",
        [](const TwoUsers& users) { users.change_config("r", [](Json& config) { config.erase("mark"); }); }),
    changed("another text of a module",
            [](const TwoUsers& users) {
              for (const auto& entry : fs::directory_iterator(users.at("r/modules")))
                users.folder.write("r/modules/" + entry.path().filename().string(),
                                   "if io then io.popen('touch " + users.pwned + "'):close() end return 2");
            }),
    changed("a module of another file",
            [](const TwoUsers& users) {
              users.change_text("r/metrics.jsonl", "lib/scale.lua", "lib/other.lua");
            }),
    changed("a script that took over",
            [](const TwoUsers& users) {
              users.folder.write("r/script-00000002.lua", kEvil);
              users.append("r/metrics.jsonl", R"({"step":2,"time":0.1,"reload":"script-00000002.lua"})");
            }),
};

// A sandboxed run of the user's own, which claims not to be one.
const std::vector<Attack> kOther{
    {"a sandboxed script that rewrites its config.json",
     [](const TwoUsers& users) {
       users.own_run("r", {"--sandbox"});
       users.change_config("r", [](Json& config) { config.erase("sandbox"); });
       return each({"repro", "r"});
     },
     "--trust"},
    {"a run of somebody else",
     [](const TwoUsers& users) {
       const std::string run = users.evil_run("r", {users.secret});
       return std::vector<Words>{{"probe", run, "STOLEN"},
                                 {"fork", run, "--step", "2"},
                                 {"tape", "diff", run + ":2", run + ":3"},
                                 {"repro", run}};
     },
     "--trust"},
    {"a bundle of somebody else, bundled again by the user",
     [](const TwoUsers& users) {
       const std::string run = users.evil_run("r", {users.secret});
       REQUIRE(users.as_attacker({"bundle", "r", "-o", "x.run"}).code == 0);
       REQUIRE(users.run({"bundle", run, "-o", "mine.run"}).code == 0);
       return std::vector<Words>{{"repro", "theirs/x.run"}, {"repro", "mine.run"}};
     },
     "--trust"},
    {"an own bundle with the run of another own bundle",
     [](const TwoUsers& users) {
       users.own_run("r");
       users.own_run("other", {"--set", "rate=3"});
       REQUIRE(users.run({"bundle", "r", "-o", "a.run"}).code == 0);
       std::vector<std::pair<std::string, std::string>> entries;
       const ZipArchive archive(users.at("a.run"), "bundle");
       for (const ZipEntry& entry : archive.entries())
         if (ReadBudget budget(entry.name); !entry.name.starts_with("run/"))
           entries.emplace_back(entry.name, archive.content(entry, entry.name, budget));
       const std::string manifest = entries.front().second;
       entries.erase(entries.begin());
       for (const char* part : {"config.json", "metrics.jsonl", "script.lua"})
         entries.emplace_back(std::string("run/") + part, read_file(users.at(std::string("other/") + part)));
       for (const auto& entry : fs::directory_iterator(users.at("other/modules")))
         entries.emplace_back("run/modules/" + entry.path().filename().string(),
                              read_file(entry.path().string()));
       assemble(users.at("made.run"), manifest, entries);
       return each({"repro", "made.run"});
     },
     "--trust"},
    {"files of the user, which bundling would pack",
     [](const TwoUsers& users) {
       users.own_run("r");
       Json line{{"file", "x"}, {"kind", "data"}, {"at", users.secret}, {"bytes", 6}, {"changed", 0}};
       users.append("r/files.jsonl", checked_text(line));
       return each({"bundle", "r", "-o", "out.run"});
     },
     "outside of the run"},
    {"a copy in the run that is not there, so that the file is packed",
     [](const TwoUsers& users) {
       users.own_run("r");
       Json line{{"file", "x"}, {"kind", "module"}, {"at", users.secret},
                 {"bytes", 6},  {"changed", 0},     {"copy", "modules/none.lua"}};
       users.append("r/files.jsonl", checked_text(line));
       return each({"bundle", "r", "-o", "out.run"});
     },
     "outside of the run"},
    {"a folder of the user, which bundling would pack",
     [](const TwoUsers& users) {
       users.own_run("r");
       Json line{{"file", "x"}, {"kind", "folder"}, {"at", users.at("private")}};
       users.append("r/files.jsonl", checked_text(line));
       return each({"bundle", "r", "-o", "out.run"});
     },
     "outside of the run"},
    {"a sweep of somebody else",
     [](const TwoUsers& users) {
       REQUIRE(users
                   .as_attacker({"sweep", "new", "s", "evil.lua", "--grid", "a=1,2", "--minimize", "y", "--",
                                 users.pwned})
                   .code == 0);
       return each({"sweep", "join", "theirs/s"});
     },
     "--trust"},
    {"an own sweep with other arguments",
     [](const TwoUsers& users) {
       REQUIRE(users.run({"sweep", "new", "s", "train.lua", "--grid", "rate=1,2", "--minimize", "y"}).code ==
               0);
       Json plan = Json::parse(read_file(users.at("s/sweep.json")));
       erase_checksum(plan);
       plan["script"] = users.at("theirs/evil.lua");
       users.folder.write("s/sweep.json", checked_text(plan, 1) + "\n");
       return each({"sweep", "join", "s"});
     },
     "--trust"},
    {"a log that is a link, to which a resumed run would append",
     [](const TwoUsers& users) {
       users.evil_run("r");
       users.folder.write("mine.lua", kEvil);
       for (const char* file : {"log.txt", "tape.jsonl", "files.jsonl"}) {
         fs::remove(users.at(std::string("theirs/r/") + file));
         fs::create_symlink(users.secret, users.at(std::string("theirs/r/") + file));
       }
       return each({"run", "mine.lua", "--sandbox", "--resume", "theirs/r", "--", "none"});
     },
     "is a link out of its folder"},
    {"a link that a repair would write through",
     [](const TwoUsers& users) {
       const std::string run = users.evil_run("r");
       fs::remove(users.at(run + "/files.jsonl"));
       fs::create_symlink(users.secret, users.at(run + "/files.jsonl"));
       return each({"runs", "check", run, "--repair"});
     },
     "is not repaired"},
    {"a pipe as the configuration of a run that is checked",
     [](const TwoUsers& users) {
       const std::string run = users.evil_run("r");
       fs::remove(users.at(run + "/config.json"));
       REQUIRE(mkfifo(users.at(run + "/config.json").c_str(), 0600) == 0);
       return each({"runs", "check", run});
     },
     "not a regular file"},
    {"the user's key, in the folder of a sandboxed script",
     [](const TwoUsers& users) {
       const std::string key = trust_folder() + "/key";
       users.folder.write(
           "key.lua",
           "local lg = require 'lunagrad'\nlocal ok, why = pcall(lg.io.csv.load, '" + key + "') print(why)");
       return each({"run", "key.lua", "--sandbox"});
     },
     "no sandboxed script reads the user's key"},
};

void attempt(const Attack& attack, const TwoUsers& users) {
  CAPTURE(attack.name);
  Finished last;
  for (const Words& command : attack.prepare(users)) {
    CAPTURE(command[0]);
    last = users.run(command);
    CAPTURE(last.out);
    CAPTURE(last.err);
    CHECK(last.out.find(kSecret) == std::string::npos);
    CHECK(last.err.find(kSecret) == std::string::npos);
    CHECK(last.code < 128);
  }
  CAPTURE(last.out);
  CAPTURE(last.err);
  CHECK((last.out + last.err).find(attack.expected) != std::string::npos);
  CHECK(!fs::exists(users.pwned));
  CHECK(read_file(users.secret) == kSecret + "\n");
  if (fs::exists(users.at("out.run")))
    CHECK(read_file(users.at("out.run")).find(kSecret) == std::string::npos);
}

}  // namespace

TEST_CASE("a run that was changed asks before anything of it runs") {
  for (const Attack& attack : kChanges) attempt(attack, TwoUsers());
}

TEST_CASE("what somebody else has made asks, and takes nothing along") {
  for (const Attack& attack : kOther) attempt(attack, TwoUsers());
}
