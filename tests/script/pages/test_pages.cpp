// The pages of the documents are right: their commands, typed in order in one folder per page, do and print
// what the page shows (tests/support/page.h). Windows open on a virtual display; the drives of
// tests/ui/drives/pages play what the pages do in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "folders.h"
#include "tests/support/display.h"
#include "tests/support/page.h"
#include "tests/support/program.h"
#include "tests/support/timing.h"

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// Commands that no test types, by their beginning.
constexpr const char* kNotTyped[][2] = {
    {"./test", "it runs this test"},       {"cmake --build build", "what is tested is built"},
    {"ssh ", "it wants another machine"},  {"sbatch ", "it wants Slurm"},
    {"srun ", "it wants Slurm"},           {"mpirun -np 16 ", "it wants several machines"},
    {"sudo apt ", "it wants packages"},    {"tar -xf lunagrad-", "it wants the archive"},
    {"lunagrad-", "it wants the archive"}, {"packaging/", "it makes packages"},
};

// How such a command begins; null for a step that is followed.
const char* not_typed_as(const PageStep& step) {
  for (const auto& [begin, reason] : kNotTyped)
    if (step.kind == PageStep::Kind::command && step.text.starts_with(begin)) return begin;
  return nullptr;
}

// README.md and the pages in docs/.
std::vector<std::string> pages() {
  std::vector<std::string> names{"README.md"};
  for (const auto& entry : fs::directory_iterator(LUNAGRAD_SOURCE_DIR "/docs"))
    if (entry.path().extension() == ".md") names.push_back("docs/" + entry.path().filename().string());
  std::sort(names.begin() + 1, names.end());
  return names;
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
          open(step);
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

  // Opens the window, and closes it as Ctrl-C does once it has drawn and its script has logged a step.
  void open(const PageStep& step) {
    if (!fs::exists(LUNAGRAD_BINARY_DIR "/lunagrad-workbench")) return find_no_window(step);
    const std::set<std::string> before = runs();
    const std::string script = script_of(step.text);
    const Display display;
    REQUIRE(display.works());
    std::vector<std::string> variables = environment();
    for (const std::string& variable : display.environment()) variables.push_back(variable);
    Program program({"bash", "-c", "exec " + step.text}, "", variables, where_);
    std::string run;
    int window = 0;
    CHECK(lunagrad::tests::eventually([&] {
      if (!program.running()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      for (const std::string& name : runs())
        if (!before.count(name)) run = name;
      if (!script.empty() && read_file(run + "/metrics.jsonl").find("\"metrics\"") == std::string::npos)
        return false;
      if (window == 0) window = display.window("lunagrad-workbench");
      return window != 0 && display.has_drawn();
    }));
    CHECK_MESSAGE(window != 0, "no window is shown");
    if (window != 0) kill(window, SIGTERM);
    const Finished done = program.finish();
    INFO(done.out, done.err);
    CHECK(done.code == 0);
    if (script.empty()) return;
    const std::string config = read_file(run + "/config.json");
    CAPTURE(config);
    CHECK(std::regex_search(config, std::regex("\"outcome\": \"(ok|stopped)\"")));
    CHECK(config.find("\"script\": \"" + script + "\"") != std::string::npos);
    static const std::regex setting("--set (\\w+)=(\\S+)");
    for (std::sregex_iterator it(step.text.begin(), step.text.end(), setting), end; it != end; ++it)
      CHECK(config.find("\"" + (*it)[1].str() + "\": \"" + (*it)[2].str() + "\"") != std::string::npos);
  }

  // In a build without the window the command line is right if only the window is missing.
  void find_no_window(const PageStep& step) {
    const Finished done = shell("{ " + step.text + "\n} 2>&1");
    INFO(done.out);
    CHECK(done.code == 5);
    CHECK(done.out.find("lunagrad run SCRIPT needs no window") != std::string::npos);
  }

  // The script that a window runs; "" if it shows a sweep.
  static std::string script_of(const std::string& command) {
    static const std::regex opened("lunagrad open (?:-\\S+ )*(\\S+\\.lua)");
    std::smatch found;
    if (command.starts_with("./run ")) return "examples/04_digits_mlp.lua";
    return std::regex_search(command, found, opened) ? found[1].str() : "";
  }

  std::set<std::string> runs() const {
    std::set<std::string> folders;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(where_ + "/runs", none))
      folders.insert(entry.path().string());
    return folders;
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
    if (not_typed_as(step)) continue;
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

TEST_CASE("README is true") { follow("README.md", Installed::no, 6); }
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
TEST_CASE("the page on the window is true") { follow("docs/window.md", Installed::yes, 1); }
TEST_CASE("the other pages are true") {
  const std::set<std::string> own{"tutorial.md", "find-the-bug.md", "guide.md",
                                  "sweeps.md",   "distributed.md",  "sharing.md",
                                  "trust.md",    "pytorch.md",      "window.md"};
  for (const std::string& page : pages())
    if (page.starts_with("docs/") && !own.count(page.substr(5))) follow(page, Installed::yes, 0);
}

TEST_CASE("every command of the pages is typed, or it is in the list of the others, which has no more") {
  const std::set<std::string> languages{"console", "lua", "diff", "cmake", "cpp", "c", "python"};
  std::set<std::string> not_typed;
  for (const std::string& name : pages()) {
    CAPTURE(name);
    const Page page = read_page(read_file(LUNAGRAD_SOURCE_DIR "/" + name));
    for (const std::string& language : page.languages)
      CHECK_MESSAGE(languages.count(language) == 1, language);
    for (const PageStep& step : page.steps)
      if (const char* const begin = not_typed_as(step)) not_typed.insert(begin);
  }
  for (const auto& [begin, reason] : kNotTyped) CHECK_MESSAGE(not_typed.count(begin) == 1, begin);
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
  for (const std::string& page : pages()) {
    if (page == "docs/benchmarks.md") continue;
    for (const std::string& line : read_page(read_file(LUNAGRAD_SOURCE_DIR "/" + page)).other)
      if (std::regex_match(line, command)) CHECK_MESSAGE(std::regex_search(line, capitals), page, ": ", line);
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
  CHECK(page.languages == std::vector<std::string>{"lua", "console", "lua"});
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
