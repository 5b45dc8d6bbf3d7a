// `lunagrad open` starts the workbench with the arguments that `lunagrad run` would take. The workbench is a
// script here, which prints its arguments.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/program.h"

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// A copy of the program with this script beside it.
class Opener {
 public:
  Opener() {
    fs::copy_file(kProgram, folder_.path() + "/lunagrad");
    folder_.write("lunagrad-workbench", "#!/bin/sh\nprintf '<%s>' \"$@\"\n");
    fs::permissions(folder_.path() + "/lunagrad-workbench", fs::perms::owner_all);
  }
  Finished open(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {folder_.path() + "/lunagrad", "open"});
    return Program(arguments, "", {"DISPLAY=:0"}, folder_.path()).finish();
  }
  void add_run(const std::string& name) const {
    fs::create_directories(folder_.path() + "/runs/" + name);
    folder_.write("runs/" + name + "/metrics.jsonl", "");
  }

 private:
  Folder folder_;
};

}  // namespace

TEST_CASE("open hands the flags of run to the workbench, and the script its arguments") {
  const Opener opener;
  CHECK(opener.open({}).out == "<>");  // printf prints its format once
  CHECK(opener.open({"train.lua"}).out == "<train.lua>");
  CHECK(opener.open({"train.lua", "--set", "a=b"}).out == "<--set><a=b><train.lua>");
  CHECK(opener.open({"--set=lr=0.1", "train.lua", "--set", "text=a b=c"}).out ==
        "<--set><lr=0.1><--set><text=a b=c><train.lua>");
  CHECK(opener.open({"train.lua", "--seed", "18446744073709551615", "--steps", "9007199254740993"}).out ==
        "<--seed><18446744073709551615><--steps><9007199254740993><train.lua>");
  CHECK(opener.open({"train.lua", "--device", "vulkan:1", "--run-dir", "my run"}).out ==
        "<--device><vulkan:1><--run-dir><my run><train.lua>");
  CHECK(opener.open({"train.lua", "--ranks", "2", "--checkpoint-every", "0.5"}).out ==
        "<--ranks><2><--checkpoint-every><0.5><train.lua>");
  CHECK(opener.open({"train.lua", "--sandbox", "--timeout", "2.5", "--memory", "64", "--disk=8"}).out ==
        "<--sandbox><--timeout><2.5><--memory><64><--disk><8><train.lua>");
  CHECK(opener.open({"--timeout", "1000000", "--memory", "1099511627776", "train.lua"}).out ==
        "<--timeout><1e+06><--memory><1099511627776><train.lua>");
  CHECK(opener.open({"sent.run", "--trust"}).out == "<--trust><sent.run>");
  CHECK(opener.open({"train.lua", "--seed", "7", "--", "--set", "x=1", "file"}).out ==
        "<--seed><7><train.lua><--><--set><x=1><file>");
  CHECK(opener.open({"train.lua", "file"}).out == "<train.lua><--><file>");
  // Flags before, after and without a script.
  CHECK(opener.open({"--set", "a=b", "train.lua"}).out == "<--set><a=b><train.lua>");
  CHECK(opener.open({"--set", "a=b", "--", "train.lua"}).out == "<--set><a=b><train.lua>");
  CHECK(opener.open({"train.lua", "file", "--set", "a=b"}).out == "<--set><a=b><train.lua><--><file>");
  CHECK(opener.open({"train.lua", "--set", "a="}).out == "<--set><a=><train.lua>");
  CHECK(opener.open({"--set", "a=b"}).out == "<--set><a=b>");
}

TEST_CASE("open hands the flags of the window on") {
  const Opener opener;
  CHECK(opener.open({"train.lua", "--light", "--size", "1280x800", "--scale", "1.5"}).out ==
        "<--light><--size><1280x800><--scale><1.5><train.lua>");
  CHECK(opener.open({"--no-state", "--dark", "train.lua", "--set", "a=b"}).out ==
        "<--set><a=b><--dark><--no-state><train.lua>");
  CHECK(opener.open({"train.lua", "--state", "my state"}).out == "<--state><my state><train.lua>");
}

TEST_CASE("open finds a run by its name in runs/, or by a part of it") {
  const Opener opener;
  for (const char* name : {"first-try", "second-try"}) opener.add_run(name);
  CHECK(opener.open({"first-try"}).out == "<runs/first-try>");
  CHECK(opener.open({"second"}).out == "<runs/second-try>");
  CHECK(opener.open({"runs/first-try"}).out == "<runs/first-try>");
  CHECK(opener.open({"runs"}).out == "<runs>");  // a path comes first
  CHECK(opener.open({"third"}).out == "<third>");
  const Finished several = opener.open({"try"});
  CHECK(several.code == 6);
  CHECK(several.err == "lunagrad open: try: 2 runs are called so, runs/first-try first\n");
}

TEST_CASE("open refuses what run refuses") {
  const Opener opener;
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--set", "a"},
                                                {"--set", "=b"},
                                                {"--seed", "-1"},
                                                {"--seed", "x"},
                                                {"--steps", "1.5"},
                                                {"--checkpoint-every", "0"},
                                                {"--trust", "--sandbox"},
                                                {"--light", "--dark"},
                                                {"--state", "x", "--no-state"},
                                                {"--timeout", "0"},
                                                {"--timeout", "-1"},
                                                {"--timeout"},
                                                {"--memory", "7"},
                                                {"--memory", "1.5"},
                                                {"--memory", "64MiB"},
                                                {"--disk", "7"},
                                                {"--set"},
                                                {"--unknown"}}) {
    std::vector<std::string> arguments{"train.lua"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Finished refused = opener.open(arguments);
    INFO(wrong.front(), ": ", refused.err);
    CHECK(refused.code == 2);
    CHECK(refused.out == "");
    CHECK(refused.err.find("lunagrad open: ") == 0);
    CHECK(refused.err.find(wrong.front()) != std::string::npos);
  }
}
