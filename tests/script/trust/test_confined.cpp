// In the sandbox, a run folder or bundle of another owner reaches only files inside of it, wherever its
// names, links and paths lead.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/io/sha256.h"
#include "script/run/json.h"
#include "script/time/replay.h"
#include "tests/script/trust/folders.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// Changes the attacker's run `theirs/r`.
struct FolderAttack {
  const char* name;
  std::function<void(const TwoUsers&)> change;
  const char* expected = "";
};

std::string absolute_checkpoint(const TwoUsers& users) {
  return users.at("private/checkpoints/step-00000002.safetensors");
}

const std::vector<FolderAttack> kFolders{
    {"a script in the folder of the secret",
     [](const TwoUsers& users) {
       users.change_config("theirs/r", [&](Json& config) { config["script"] = users.at("private/x.lua"); });
     }},
    {"a script in the root",
     [](const TwoUsers& users) {
       users.change_config("theirs/r", [](Json& config) { config["script"] = "/x.lua"; });
     }},
    {"a script above the folder",
     [](const TwoUsers& users) {
       users.change_config("theirs/r", [](Json& config) { config["script"] = "../../x.lua"; });
     }},
    {"a script below the process",
     [](const TwoUsers& users) {
       users.change_config("theirs/r", [](Json& config) { config["script"] = "/proc/self/cwd/x.lua"; });
     }},
    {"a folder that is a link",
     [](const TwoUsers& users) { fs::create_symlink(users.at("private"), users.at("theirs/r/data")); },
     "theirs/r/data: is a link out of its folder"},
    {"a file that is a link",
     [](const TwoUsers& users) { fs::create_symlink(users.secret, users.at("theirs/r/x.csv")); },
     "x.csv: is a link out of its folder"},
    {"a link to a link",
     [](const TwoUsers& users) {
       fs::create_symlink("b", users.at("theirs/r/a"));
       fs::create_symlink("../../private", users.at("theirs/r/b"));
     },
     "is a link out of its folder"},
    {"a link deep in the folder",
     [](const TwoUsers& users) {
       fs::create_directories(users.at("theirs/r/images/deep"));
       fs::create_symlink("/", users.at("theirs/r/images/deep/root"));
     },
     "root: is a link out of its folder"},
    {"the script as a link",
     [](const TwoUsers& users) {
       fs::rename(users.at("theirs/r/script.lua"), users.at("private/x.lua"));
       fs::create_symlink(users.at("private/x.lua"), users.at("theirs/r/script.lua"));
     },
     "script.lua"},
    {"config.json as a link",
     [](const TwoUsers& users) {
       fs::rename(users.at("theirs/r/config.json"), users.at("private/c.json"));
       fs::create_symlink(users.at("private/c.json"), users.at("theirs/r/config.json"));
     },
     "config.json: is a link out of its folder"},
    {"a device as the script",
     [](const TwoUsers& users) {
       fs::remove(users.at("theirs/r/script.lua"));
       fs::create_symlink("/dev/zero", users.at("theirs/r/script.lua"));
     },
     "not a regular file"},
    {"a pipe as the configuration",
     [](const TwoUsers& users) {
       fs::remove(users.at("theirs/r/config.json"));
       REQUIRE(mkfifo(users.at("theirs/r/config.json").c_str(), 0600) == 0);
     },
     "not a regular file"},
    {"a pipe among the checkpoints",
     [](const TwoUsers& users) {
       REQUIRE(mkfifo(users.at("theirs/r/checkpoints/step-00000009.safetensors").c_str(), 0600) == 0);
     },
     "is a pipe, a socket or a device"},
    {"the process's files",
     [](const TwoUsers& users) { fs::create_symlink("/proc/self/environ", users.at("theirs/r/log2.txt")); },
     "is a link out of its folder"},
    {"a module outside",
     [](const TwoUsers& users) {
       users.folder.write("private/m.lua", "return " + kSecret);
       users.append("theirs/r/metrics.jsonl",
                    R"({"step":0,"time":0,"module":{"file":"m.lua","copy":"../../private/m.lua"}})");
     },
     "../../private/m.lua, which is not in its folder"},
    {"a module at an absolute path",
     [](const TwoUsers& users) {
       users.append("theirs/r/metrics.jsonl",
                    R"({"step":0,"time":0,"module":{"file":"m.lua","copy":")" + users.secret + "\"}}");
     },
     "which is not in its folder"},
    {"a module in a folder that is a link",
     [](const TwoUsers& users) {
       fs::create_symlink(users.at("private"), users.at("theirs/r/m"));
       users.append("theirs/r/metrics.jsonl",
                    R"({"step":0,"time":0,"module":{"file":"m.lua","copy":"m/secret.csv"}})");
     },
     "theirs/r/m"},
    {"a checksum of a file outside",
     [](const TwoUsers& users) {
       users.change_config("theirs/r", [](Json& config) { config["scripts"]["../../../../dev/zero"] = "0"; });
     },
     "which is not in its folder"},
};

// Changes that a replay follows, but not `repro`.
const std::vector<FolderAttack> kReplays{
    {"a script that took over, outside",
     [](const TwoUsers& users) {
       users.folder.write("private/m.lua", "STOLEN = " + kSecret);
       users.append("theirs/r/metrics.jsonl", R"({"step":2,"time":0.1,"reload":"../../private/m.lua"})");
     },
     "which is not in its folder"},
    {"a checkpoint outside",
     [](const TwoUsers& users) {
       fs::create_directories(users.at("private/checkpoints"));
       fs::copy_file(users.at("theirs/r/checkpoints/step-00000002.safetensors"), absolute_checkpoint(users));
       users.append("theirs/r/metrics.jsonl",
                    R"({"step":2,"time":0.1,"resume":")" + absolute_checkpoint(users) + "\"}");
     },
     "which is not in the run's folder"},
};

void check_quiet(const TwoUsers& users, const Finished& finished, const std::string& expected) {
  CAPTURE(finished.out);
  CAPTURE(finished.err);
  CHECK(finished.out.find(kSecret) == std::string::npos);
  CHECK(finished.err.find(kSecret) == std::string::npos);
  CHECK(finished.code < 128);
  CHECK((finished.out + finished.err).find(expected) != std::string::npos);
  CHECK(!fs::exists(users.pwned));
  CHECK(read_file(users.secret) == kSecret + "\n");
}

// Where the evil script looks.
std::vector<std::string> looks(const TwoUsers& users) {
  return {users.secret,
          "private/secret.csv",
          "data/secret.csv",
          "../private/secret.csv",
          "theirs/r/data/secret.csv",
          "theirs/r/x.csv",
          "theirs/r/a/secret.csv",
          "theirs/r/images/deep/root" + users.secret,
          "/proc/self/cwd/private/secret.csv"};
}

// ---- bundles

struct BundleAttack {
  const char* name;
  // The files of the manifest, and entries beside the run's.
  std::function<Json(const TwoUsers&, std::vector<std::pair<std::string, std::string>>&)> files;
  const char* expected = "";
  const char* script = "evil.lua";
};

Json data(const std::string& path, const std::string& origin, const std::string& content,
          const std::string& entry = "") {
  Json file{{"kind", "data"},
            {"path", path},
            {"origin", origin},
            {"bytes", content.size()},
            {"sha256", sha256_of(content)}};
  if (!entry.empty()) file["entry"] = entry;
  return file;
}

Json folder_named(const std::string& path) { return {{"kind", "folder"}, {"path", path}, {"origin", path}}; }

const std::vector<BundleAttack> kBundles{
    {"the root as a folder",
     [](const TwoUsers& users, auto&) {
       users.folder.write("known.csv", "1\n");
       return Json{folder_named("/"), data("known.csv", "known.csv", "1\n")};
     },
     "stolen 0"},
    {"the folder of the secret",
     [](const TwoUsers& users, auto&) {
       users.folder.write("known.csv", "1\n");
       return Json{folder_named(users.at("private")), data("known.csv", "known.csv", "1\n")};
     },
     "stolen 0"},
    {"the working folder",
     [](const TwoUsers& users, auto&) {
       users.folder.write("known.csv", "1\n");
       return Json{folder_named("."), folder_named(".."), data("known.csv", "known.csv", "1\n")};
     },
     "stolen 0"},
    {"the secret at its path",
     [](const TwoUsers& users, auto&) {
       return Json::array({data(users.secret, users.secret, kSecret + "\n")});
     },
     "which is outside of the bundle"},
    {"the secret at its origin",
     [](const TwoUsers& users, auto&) {
       return Json::array({data("here.csv", users.secret, kSecret + "\n")});
     },
     "the file is not here"},
    {"the secret above the working folder",
     [](const TwoUsers& users, auto&) {
       return Json::array({data("../" + fs::path(users.folder.path()).filename().string() + "/../secret.csv",
                                "", kSecret + "\n")});
     },
     "which is outside of the bundle"},
    {"the secret behind a link of the user",
     [](const TwoUsers& users, auto&) {
       const std::string outside = fs::path(users.folder.path()).parent_path().string();
       fs::create_symlink(outside, users.at("link"));
       return Json::array({data("link/x.csv", "", kSecret + "\n")});
     },
     "which is outside of the bundle"},
    {"a pipe of the system",
     [](const TwoUsers& users, auto&) {
       REQUIRE(mkfifo(users.at("pipe.csv").c_str(), 0600) == 0);
       return Json::array({data("pipe.csv", "", "x")});
     },
     "pipe.csv"},
    {"two files in one place",
     [](const TwoUsers& users, auto& entries) {
       users.folder.write("known.csv", "1\n");
       entries.emplace_back("files/1", "2\n");
       return Json{data("known.csv", "", "1\n"), data("./known.csv", "", "2\n", "files/1")};
     },
     "names two files"},
    {"a file in the place of the script",
     [](const TwoUsers& users, auto&) {
       users.folder.write("evil.lua", "-- mine\n");
       return Json::array({data("evil.lua", "", "-- mine\n")});
     },
     "evil.lua"},
    {"an entry that leaves the folder",
     [](const TwoUsers&, auto& entries) {
       entries.emplace_back("run/../../x", "x");
       return Json::array();
     },
     "does not belong into a bundle"},
    {"a script at an absolute path", [](const TwoUsers&, auto&) { return Json::array(); }, "stolen 0",
     "/etc/evil.lua"},
    {"a script above", [](const TwoUsers&, auto&) { return Json::array(); }, "stolen 0", "../../evil.lua"},
};

}  // namespace

TEST_CASE("a folder of somebody else reads nothing outside of itself") {
  for (const FolderAttack& attack : kFolders) {
    CAPTURE(attack.name);
    const TwoUsers users;
    users.evil_run("r", looks(users));
    attack.change(users);
    check_quiet(users, users.run({"repro", "theirs/r", "--sandbox"}), attack.expected);
    check_quiet(users, users.run({"probe", "theirs/r", "STOLEN", "--sandbox"}), attack.expected);
    check_quiet(users, users.run({"fork", "theirs/r", "--step", "2", "--run-dir", "f", "--sandbox"}), "");
    if (fs::exists(users.at("f/metrics.jsonl")))  // the user's own now, and still in the sandbox
      check_quiet(users, users.run({"probe", "f", "STOLEN"}), "");
  }
  for (const FolderAttack& attack : kReplays) {
    CAPTURE(attack.name);
    const TwoUsers users;
    users.evil_run("r", looks(users));
    attack.change(users);
    check_quiet(users, users.run({"probe", "theirs/r", "STOLEN", "--sandbox"}), attack.expected);
  }
}

TEST_CASE("a bundle of somebody else reads nothing outside of itself") {
  for (const BundleAttack& attack : kBundles) {
    CAPTURE(attack.name);
    const TwoUsers users;
    std::vector<std::string> places = looks(users);
    places.insert(places.end(), {"here.csv", "link/x.csv", "../secret.csv"});
    const std::string run = users.evil_run("r", places);
    std::vector<std::pair<std::string, std::string>> entries;
    const Json files = attack.files(users, entries);
    for (const char* part : {"config.json", "metrics.jsonl", "script.lua"})
      entries.emplace_back(std::string("run/") + part, read_file(users.at(run + "/" + part)));
    assemble(users.at("made.run"),
             Json{{"format", "lunagrad bundle"},
                  {"version", 1},
                  {"lunagrad", "0.1.0"},
                  {"script", attack.script},
                  {"files", files},
                  {"left_out", Json::array()}}
                 .dump(),
             entries);
    check_quiet(users, users.run({"repro", "made.run"}), "");
    check_quiet(users, users.run({"repro", "made.run", "--sandbox"}), attack.expected);
    if (fs::exists(users.at("evil.lua"))) CHECK(read_file(users.at("evil.lua")) == "-- mine\n");
    if (fs::exists(users.at("known.csv"))) CHECK(read_file(users.at("known.csv")) == "1\n");
  }
}

TEST_CASE("a sandboxed script that has written into its own folder gains nothing by a replay") {
  const TwoUsers users;
  users.own_run("r", {"--sandbox"});
  const std::string folder = users.at("r");
  const auto is_confined = [&folder] {
    return Replay(folder, {.limits = {.sandbox = true}}).timeline().confined;
  };
  CHECK(!is_confined());
  users.change_config("r", [&](Json& config) {
    config["script"] = users.at("private/x.lua");
    config.erase("sandbox");
  });
  CHECK(is_confined());
}

TEST_CASE("a sweep of somebody else runs the script in its folder, in the sandbox") {
  const TwoUsers users;
  REQUIRE(users
              .as_attacker({"sweep", "new", "s", "evil.lua", "--grid", "a=1", "--minimize", "y", "--device",
                            "cpu; touch x", "--", users.pwned, users.secret})
              .code == 0);
  // A copy elsewhere, with a file that the plan names in place of its script.
  Json plan = Json::parse(read_file(users.at("theirs/s/sweep.json")));
  erase_checksum(plan);
  plan["script"] = users.secret;
  plan["directory"] = users.at("private");
  plan["device"] = "";
  users.folder.write("theirs/s/sweep.json", checked_text(plan, 1) + "\n");
  const Finished joined = users.run({"sweep", "join", "theirs/s", "--sandbox"});
  check_quiet(users, joined, "");
  plan["device"] = "cpu; touch x";
  users.folder.write("theirs/s/sweep.json", checked_text(plan, 1) + "\n");
  const Finished best = users.run({"sweep", "best", "theirs/s"});
  CHECK(best.out.find("--device cpu;") == std::string::npos);
}
