// The pages of the documents are right: their commands, typed in order in one folder per page, do and print
// what the page shows (tests/support/page.h). The drives of tests/ui/drives/pages play the parts in the
// window.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "folders.h"
#include "tests/support/page.h"
#include "tests/support/program.h"

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// Commands that no test types, by their beginning.
constexpr const char* kNotTyped[][2] = {
    {"./test", "it runs this test"},
    {"./setup.sh", "it installs packages"},
    {"cmake --build build", "what is tested is built"},
    {"sudo ", "it changes the machine"},
    {"lunagrad run --watch ", "it waits for changes of the script; the tests of reloads start it"},
    {"ssh ", "it wants another machine"},
    {"sbatch ", "it wants Slurm"},
    {"srun ", "it wants Slurm"},
    {"mpirun -np 16 ", "it wants several machines"},
};

bool is_typed(const std::string& command) {
  for (const auto& [begin, reason] : kNotTyped)
    if (command.starts_with(begin)) return false;
  return true;
}

bool is_open(const std::string& command) {
  static const std::regex open("(build/)?lunagrad open .*|\\./run --ui.*");
  return std::regex_match(command, open);
}

// A person's folder: the root of a built clone, with a home folder in it.
class UserFolder {
 public:
  explicit UserFolder(const std::string& page) : page_(page), where_(folder_.path()) {
    const std::string source = LUNAGRAD_SOURCE_DIR "/";
    fs::create_directory_symlink(LUNAGRAD_BINARY_DIR, folder_.path() + "/build");
    for (const char* name : {"assets", "examples"})
      fs::create_directory_symlink(source + name, folder_.path() + "/" + name);
    // ./run without the parts that install and build.
    std::istringstream run(read_file(source + "run"));
    std::string text;
    for (std::string line; std::getline(run, line);)
      if (!line.starts_with("./setup.sh") && !line.starts_with("source ") && !line.starts_with("build "))
        text += line + "\n";
    folder_.write("run", text);
    fs::permissions(folder_.path() + "/run", fs::perms::owner_all);
    home_ = folder_.path() + "/home";
    fs::create_directories(home_ + "/.local/bin");
  }

  // As if Lunagrad had been installed.
  void put_on_path() {
    for (const char* name : {"lunagrad", "lunagrad-workbench"})
      fs::create_symlink(std::string(LUNAGRAD_BINARY_DIR "/") + name, home_ + "/.local/bin/" + name);
  }

  const std::string& printed() const { return printed_; }

  void follow(const PageStep& step) {
    CAPTURE(page_);
    CAPTURE(step.line);
    CAPTURE(step.text);
    switch (step.kind) {
      case PageStep::Kind::script:
        save(step);
        break;
      case PageStep::Kind::change: {
        std::string text = read_file(where_ + "/" + step.text);
        CHECK(change_text(text, step.lines) == "");
        std::ofstream(where_ + "/" + step.text) << text;
        break;
      }
      case PageStep::Kind::command:
        if (is_open(step.text))
          check_open(step);
        else if (std::find(step.lines.begin(), step.lines.end(), "^C") != step.lines.end())
          interrupt(step);
        else
          type(step);
    }
  }

 private:
  // A block without a name runs as it stands, unless it is a part of a script or plays the window.
  void save(const PageStep& step) {
    const std::string name = step.text.empty() ? "block_" + std::to_string(step.line) + ".lua" : step.text;
    fs::create_directories(fs::path(where_ + "/" + name).parent_path());
    std::ofstream file(where_ + "/" + name);
    for (const std::string& line : step.lines) file << line << "\n";
    file.close();
    const bool whole = read_file(where_ + "/" + name).find("require \"lunagrad\"") != std::string::npos;
    if (!step.text.empty() || !whole) return;
    const Finished done =
        Program({kProgram, "run", name, "--run-dir", name + ".run"}, "", environment(), where_).finish();
    INFO(done.err);
    CHECK(done.code == 0);
  }

  void type(const PageStep& step) {
    const std::string place = folder_.path() + "/.place";
    const Finished done = shell("{ " + step.text + "\n} 2>&1; code=$?; pwd >'" + place + "'; exit $code");
    std::string now = read_file(place);
    if (!now.empty()) where_ = now.substr(0, now.find('\n'));
    printed_ += done.out;
    INFO(done.out, done.err);
    CHECK(done.code == shown_exit_code(step.text));
    CHECK(missing_line(step.lines, done.out) == "");
  }

  // The window is not opened here: the command line is right if only the display is missing.
  void check_open(const PageStep& step) {
    const Finished done = shell("unset DISPLAY WAYLAND_DISPLAY; { " + step.text + "\n} 2>&1");
    INFO(done.out);
    CHECK(done.code == 5);
    CHECK(done.out.find("lunagrad run SCRIPT needs no window") != std::string::npos);
    std::istringstream words(step.text);
    std::string word;
    while (words >> word && word != "open") {
    }
    if (words >> word && word[0] != '-' && word[0] != '#') CHECK(fs::exists(where_ + "/" + word));
  }

  // Types Ctrl-C once the lines above it are there.
  void interrupt(const PageStep& step) {
    const auto end = std::find(step.lines.begin(), step.lines.end(), "^C");
    REQUIRE(end != step.lines.begin());
    const std::string last = *(end - 1);
    Program program({"sh", "-c", "exec " + step.text}, "", environment(), where_);
    CHECK(program.wrote(last.substr(0, last.find("…"))));
    program.signal(SIGINT);
    const Finished done = program.finish();
    INFO(done.out, done.err);
    CHECK(done.code == 130);
    CHECK(missing_line(step.lines, done.out + done.err) == "");
  }

  Finished shell(const std::string& text) const {
    return Program({"bash", "-c", text}, "", environment(), where_).finish();
  }
  std::vector<std::string> environment() const {
    const char* path = std::getenv("PATH");
    return {"HOME=" + home_, "PATH=" + home_ + "/.local/bin:" + (path ? path : ""),
            "XDG_STATE_HOME=" + home_ + "/state"};
  }

  const Folder folder_;
  std::string page_, home_, where_, printed_;
};

enum class Installed { yes, no };

// Types a page, and returns all that was printed.
std::string follow(const std::string& name, Installed installed, size_t least) {
  const Page page = read_page(read_file(LUNAGRAD_SOURCE_DIR "/" + name));
  UserFolder user_folder(name);
  if (installed == Installed::yes) user_folder.put_on_path();
  size_t count = 0;
  for (const PageStep& step : page.steps) {
    if (step.kind == PageStep::Kind::command && !is_typed(step.text)) continue;
    user_folder.follow(step);
    ++count;
  }
  CHECK(count >= least);
  return user_folder.printed();
}

// Checks that the numbers in a page's prose were printed.
void check_numbers(const std::string& name, const std::string& printed, size_t least) {
  const std::vector<std::string> numbers =
      numbers_in(read_page(read_file(LUNAGRAD_SOURCE_DIR "/" + name)).prose);
  CHECK(numbers.size() >= least);
  for (const std::string& number : numbers) CHECK_MESSAGE(is_printed(number, printed), name, ": ", number);
}

}  // namespace

TEST_CASE("README is true") { follow("README.md", Installed::no, 5); }
TEST_CASE("the tutorial is true") {
  check_numbers("docs/tutorial.md", follow("docs/tutorial.md", Installed::no, 14), 4);
}
TEST_CASE("the page on finding bugs is true") {
  check_numbers("docs/find-the-bug.md", follow("docs/find-the-bug.md", Installed::no, 24), 2);
}
TEST_CASE("the guide is true") { follow("docs/guide.md", Installed::no, 40); }
TEST_CASE("the page on sweeps is true") { follow("docs/sweeps.md", Installed::yes, 8); }
TEST_CASE("the page on several processes is true") { follow("docs/distributed.md", Installed::yes, 8); }
TEST_CASE("the page on sharing runs is true") { follow("docs/sharing.md", Installed::yes, 6); }
TEST_CASE("the page on trust is true") { follow("docs/trust.md", Installed::yes, 8); }
TEST_CASE("the page on PyTorch is true") { follow("docs/pytorch.md", Installed::yes, 1); }
TEST_CASE("the other pages are true") {
  for (const char* page :
       {"docs/window.md", "docs/reference.md", "docs/troubleshooting.md", "docs/benchmarks.md"})
    follow(page, Installed::yes, 0);
}

TEST_CASE("every topic of help that a page or a message names is there") {
  const std::regex named("lunagrad help ([a-z][\\w.-]*\\w)");
  std::set<std::string> topics;
  for (const char* folder : {"docs", "script", "ui", "lua", "examples"})
    for (const auto& entry :
         fs::recursive_directory_iterator(std::string(LUNAGRAD_SOURCE_DIR "/") + folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".png") continue;
      const std::string text = read_file(entry.path().string());
      for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it)
        topics.insert((*it)[1]);
    }
  CHECK(topics.size() > 8);
  const Folder folder;
  for (const std::string& topic : topics)
    if (topic != "lg" && topic != "torch.NAME")  // before another word
      CHECK_MESSAGE(folder.run({"help", topic}).code == 0, topic);
}

TEST_CASE("every command of the pages stands where it is tested") {
  // A line of another block that a person could type. Words in capitals stand for a value. The measurements
  // of benchmarks.md take hours.
  const std::regex command("\\s*(\\$ )?(build/)?(lunagrad|lunagrad-workbench|\\./run|\\./test) .*"),
      capitals("\\b[A-Z]+\\b");
  for (const auto& entry : fs::directory_iterator(LUNAGRAD_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "benchmarks.md") continue;
    for (const std::string& line : read_page(read_file(entry.path().string())).other)
      if (std::regex_match(line, command))
        CHECK_MESSAGE(std::regex_search(line, capitals), entry.path().string(), ": ", line);
  }
}

TEST_CASE("what a page shows is compared with what is printed") {
  CHECK(same_line("loss  0.5 …", "loss 0.501 3 4"));
  CHECK_FALSE(same_line("loss 0.5", "loss 0.501 3 4"));
  CHECK_FALSE(same_line("loss 0.5", "loss 0.55"));
  CHECK_FALSE(same_line("step 148", "step 149"));
  CHECK(same_line("loss … differs from step 20", "loss 1 2 differs from step 20"));
  CHECK_FALSE(same_line("loss … differs from step 20", "loss 1 2 differs from step 21"));
  CHECK(same_line("http://127.0.0.1…", "http://127.0.0.1:8642/?token=1f"));
  CHECK(same_line("97.2 %", "97.3 %"));
  CHECK(missing_line({"a", "…", "c"}, "a\nb\nc\n") == "");
  CHECK(missing_line({"c", "a"}, "a\nb\nc\n") == "a");
  CHECK(shown_exit_code("lunagrad runs diff a b   # exit code 1: they differ") == 1);
  CHECK(shown_exit_code("lunagrad repl") == 0);
  const Page page =
      read_page("text\n```lua\n-- a.lua\nx\n```\n```console\n$ a\nb\n$ c\n```\n    d\n```lua\ny\n```\n");
  REQUIRE(page.steps.size() == 4);
  CHECK(page.steps[0].text == "a.lua");
  CHECK(page.steps[0].lines == std::vector<std::string>{"-- a.lua", "x"});
  CHECK(page.steps[1].lines == std::vector<std::string>{"b"});
  CHECK(page.steps[3].text == "");
  CHECK(page.other == std::vector<std::string>{"    d"});
  CHECK(numbers_in({"from 0.6 to 5.3, 97 % of 12, `0.7`, x1.5 and 1.2.3", "![0.8](a.png)"}) ==
        std::vector<std::string>{"0.6", "5.3", "97"});
  CHECK(is_printed("97", "accuracy 97.8 %"));
  CHECK(is_printed("5.3", "loss 5.287"));
  CHECK_FALSE(is_printed("5.3", "loss 5.4 and 53"));
  std::string text = "a\nb\n";
  CHECK(change_text(text, {" a", "-b", "+c"}) == "");
  CHECK(text == "a\nc\n");
  CHECK(change_text(text, {"-b"}) == "-b");
}
