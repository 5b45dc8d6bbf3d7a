// What a session takes from and leaves to the process around it: the standard streams, the locale of numbers,
// and modules.
#include <doctest/doctest.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <locale>

#include "folders.h"
#include "runtime/io/temporary_folder.h"
#include "runtime/ops.h"
#include "script/meta/library.h"
#include "tests/support/program.h"
#include "tests/support/recorder.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Sets a locale whose decimal point is a comma, for the process and for C++ streams. It is made here when the
// system has none.
class CommaLocale {
 public:
  CommaLocale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"})
      if (set(name)) return;
    const std::string make = "localedef -i de_DE -f UTF-8 " + folder_.path() + "/de_DE.UTF-8 >/dev/null 2>&1";
    if (std::system(make.c_str()) == -1) return;
    setenv("LOCPATH", folder_.path().c_str(), 1);
    set("de_DE.UTF-8");
  }
  ~CommaLocale() {
    std::locale::global(std::locale::classic());  // also of the C library
    unsetenv("LOCPATH");
  }
  bool works() const { return works_; }

 private:
  bool set(const char* name) {
    works_ = std::setlocale(LC_ALL, name) && std::localeconv()->decimal_point[0] == ',';
    if (works_) std::locale::global(std::locale(name));
    return works_;
  }
  const TemporaryFolder folder_;
  bool works_ = false;
};

std::string formatted(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f", number);
  return digits;
}

}  // namespace

TEST_CASE("all that a script writes to the standard streams is output of its session") {
  Recorder recorder;
  CHECK(recorder.finish(R"(
    print("a")
    io.write("b", 1, "\n")
    assert(io.stdout:write("c", 2.5, "\n") == io.stdout)
    io.output():write("d\n")
    io.stderr:write("e\n"):write("f\n")
    io.output(io.stderr)
    io.write("g\n")
    io.output(io.stdout)
    print(pcall(io.stdout.write, io.stdout, {}))
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    assert(file:write("in the file") == file)
    file:close()
    print(pcall(file.write, file, "x"))
    print(io.open(name):read("a"))
    os.remove(name))") == Outcome::ok);
  const std::string said = recorder.output();
  INFO(said);
  CHECK(said.starts_with("a\nb1\nc2.5\nd\ne\nf\ng\nfalse\t"));
  CHECK(said.find("attempt to use a closed file") != std::string::npos);
  CHECK(said.ends_with("in the file\n"));
  std::string to_stderr;
  for (const Event& event : recorder.events(Event::Kind::output))
    if (event.to_stderr) to_stderr += event.text;
  CHECK(to_stderr == "e\nf\ng\n");
}

TEST_CASE("a script writes and reads numbers with a point, and the host's code sees the host's locale") {
  const CommaLocale comma;
  if (!comma.works()) {
    MESSAGE("no locale with a decimal comma can be set here");
    return;
  }
  REQUIRE(formatted(1.5) == "1,5");
  std::string of_function, of_sink;
  {
    Recorder recorder;
    recorder.also = [&](const Event& event) {
      if (event.kind == Event::Kind::output && of_sink.empty()) of_sink = formatted(1.5);
    };
    recorder.session.add_function("format", [&](const TensorList&) -> TensorList {
      of_function = formatted(1.5);
      return {};
    });
    RunOptions options;
    options.set = {{"rate", "2.75"}};
    CHECK(recorder.finish(R"(
      local lg = require "lunagrad"
      lg.host.format()
      print(1.5, tostring(2.5), string.format("%.2f", 3.5), tonumber("4.5"), tonumber("4,5"), load("return 5.5")())
      print(lg.tensor {1.5, 2.25}, 1e100, "0.5" + 1)
      print(pcall(lg.reshape, lg.zeros(1234), 7))
      print(lg.run.param("rate", 1.5))
      print(os.setlocale("C", "numeric") ~= nil, 6.5)
      print(os.setlocale("", "collate") ~= false, 7.5))",
                          options) == Outcome::ok);
    const std::string said = recorder.output();
    INFO(said);
    CHECK(said.starts_with("1.5\t2.5\t3.50\t4.5\tnil\t5.5\n"));
    CHECK(said.find("2.25") != std::string::npos);
    CHECK(said.find("1e+100\t1.5\n") != std::string::npos);
    CHECK(said.find("1234") != std::string::npos);
    CHECK(said.find("2.75\n") != std::string::npos);
    CHECK(said.find("true\t6.5\n") != std::string::npos);
    CHECK(said.find("7.5\n") != std::string::npos);
    CHECK(recorder.eval("0.5"));
    CHECK(recorder.output().ends_with("0.5\n"));
  }
  CHECK(of_function == "1,5");
  CHECK(of_sink == "1,5");
}

TEST_CASE("a session's own modules are found in every run, before files and after the bundled library") {
  std::string output;
  Session session(
      [&](const Event& event) {
        if (event.kind == Event::Kind::output || event.kind == Event::Kind::error) output += event.text;
      },
      {.modules = {{"tools.half",
                    "local name, place = ... return {of = function(x) return x / 2 end, "
                    "name = name, place = place}"},
                   {"lunagrad", "return 'hidden'"},
                   {"broken", "local x = = 1"}}});
  RunOptions options;
  options.write_run = false;
  for (const bool sandbox : {false, true, false}) {
    CAPTURE(sandbox);
    output.clear();
    options.sandbox = sandbox;
    session.run_text(
        "local half = require 'tools.half' print(half.of(3), half.name, half.place, type(require 'lunagrad'))"
        "print(pcall(require, 'broken')) print(pcall(require, 'tools.none'))",
        "test", options);
    CHECK(session.wait() == Outcome::ok);
    INFO(output);
    CHECK(output.find("1.5\ttools.half\ttools.half\ttable\n") != std::string::npos);
    CHECK(output.find("broken:1:") != std::string::npos);
    CHECK(output.find("tools.none") != std::string::npos);
  }
}

TEST_CASE("the Lua files beside the program are found before the build's, and a host may name their folder") {
  const TemporaryFolder flat;
  namespace fs = std::filesystem;
  const fs::path library = fs::path(library_directory());
  for (const char* place : {"lua", "share/lunagrad/lua"}) {
    CAPTURE(place);
    const fs::path folder = fs::path(flat.path()) / fs::path(place).begin()->string();
    fs::create_directories(fs::path(flat.path()) / place);
    fs::create_directory_symlink(library / "lunagrad", fs::path(flat.path()) / place / "lunagrad");
    CHECK(library_near((fs::path(flat.path()) / "program").string()) ==
          (fs::path(flat.path()) / place).string());
    fs::remove_all(folder);
  }
  std::string why;
  CHECK_FALSE(set_library(flat.path(), &why));
  CHECK(why == flat.path() + " has no lunagrad/init.lua");
  CHECK(set_library(library.string(), &why));  // it is in use already
}

TEST_SUITE_END();
