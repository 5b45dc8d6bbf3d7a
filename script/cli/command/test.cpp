// `lunagrad test`: runs Lua files, each in its own Lua state, and counts their tests: the calls of it(), or
// the file itself when it has none.
#include "script/cli/command/test.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/quoting.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/runner.h"
#include "script/cli/base/signals.h"
#include "script/cli/command/all.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

struct TestRequest {
  std::vector<std::string> files;
  std::string junit, device, filter;
  bool tap = false, fail_fast = false;
};

struct FileResult {
  std::string path;
  std::vector<TestResult> tests;
  double seconds = 0;
  bool interrupted = false;
  size_t failed() const {
    return size_t(
        std::count_if(tests.begin(), tests.end(), [](const TestResult& t) { return !t.message.empty(); }));
  }
};

// The default files: test_*.lua and *_test.lua here and in tests/ and test/, by name.
std::vector<std::string> find_tests() {
  std::vector<std::string> found;
  for (const char* folder : {".", "tests", "test"}) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      if (is_test_file(entry.path().filename().string()))
        found.push_back(entry.path().lexically_normal().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

FileResult run_tests_of(const std::string& path, const TestRequest& request) {
  FileResult result{path, {}, 0, false};
  std::string error;
  Outcome outcome = Outcome::ok;
  std::atomic<bool> ended{false};
  Signals signals;
  const auto start = std::chrono::steady_clock::now();
  {
    Session session(
        [&](const Event& event) {
          // Standard output is for the report; a test's own output goes to standard error.
          if (event.kind == Event::Kind::output) std::fwrite(event.text.data(), 1, event.text.size(), stderr);
          if (event.kind == Event::Kind::warning) std::cerr << "warning: " << event.text << "\n";
          if (event.kind == Event::Kind::error) error = event.text;
          if (event.kind != Event::Kind::ended) return;
          outcome = event.outcome;
          ended.store(true);
          signals.wake();
        },
        {.process_streams = true});
    RunOptions options;
    options.write_run = false;
    options.device = request.device;
    options.test_filter = request.filter;
    options.on_test = [&](const TestResult& test) {
      result.tests.push_back(test);
      if (request.fail_fast && !test.message.empty()) session.interrupt();
    };
    session.run_file(path, options);
    int seen = 0;
    while (!ended.load()) {
      signals.wait(-1);
      for (; seen < signals.count(); ++seen) session.interrupt();
    }
    result.interrupted = signals.count() > 0;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool stopped = outcome == Outcome::stopped;
  const bool left_out = !request.filter.empty() && outcome == Outcome::ok;
  if (!stopped && !left_out && (outcome != Outcome::ok || result.tests.empty()))
    result.tests.push_back(
        {result.tests.empty() ? "the file" : "the rest of the file", error, result.seconds});
  return result;
}

std::string xml(const std::string& bytes) { return xml_text(path_text(bytes)); }

// The JUnit dialect that CI servers read: testsuites/testsuite/testcase/failure.
std::string junit(const std::vector<FileResult>& files) {
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const FileResult& file : files) {
    out << "  <testsuite name=\"" << xml(file.path) << "\" tests=\"" << file.tests.size() << "\" failures=\""
        << file.failed() << "\" time=\"" << file.seconds << "\">\n";
    for (const TestResult& test : file.tests) {
      out << "    <testcase classname=\"" << xml(file.path) << "\" name=\"" << xml(test.name) << "\" time=\""
          << test.seconds << "\"";
      if (test.message.empty()) {
        out << "/>\n";
        continue;
      }
      const std::string first = test.message.substr(0, test.message.find('\n'));
      out << ">\n      <failure message=\"" << xml(first) << "\">" << xml(test.message)
          << "</failure>\n    </testcase>\n";
    }
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
  return out.str();
}

std::string indented(const std::string& text, const char* by) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out += by + line + "\n";
  return out;
}

void print_tap(const FileResult& file, size_t& number) {
  for (const TestResult& test : file.tests) {
    std::string name = file.path + ": " + test.name;
    std::replace(name.begin(), name.end(), '#', ' ');  // a '#' would begin a directive
    std::replace(name.begin(), name.end(), '\n', ' ');
    std::cout << (test.message.empty() ? "ok " : "not ok ") << ++number << " - " << name << "\n"
              << indented(test.message, "# ");
  }
  std::cout << std::flush;
}

void print_report(const FileResult& file) {
  const size_t failed = file.failed();
  std::cout << (failed ? "FAILED  " : "ok      ") << file.path << "  " << file.tests.size() - failed << " of "
            << file.tests.size() << (file.tests.size() == 1 ? " test" : " tests") << " passed\n"
            << std::flush;
  for (const TestResult& test : file.tests)
    if (!test.message.empty()) std::cerr << "  " << test.name << "\n" << indented(test.message, "    ");
}

int run_tests(const TestRequest& request) {
  const std::vector<std::string> paths = request.files.empty() ? find_tests() : request.files;
  if (paths.empty()) {
    std::cerr
        << "lunagrad test: no file is named, and none here or in tests/ is called test_*.lua or *_test.lua\n";
    return int(Outcome::file);
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) continue;
    std::cerr << "lunagrad test: " << path << ": no such file\n";
    return int(Outcome::file);
  }
  std::vector<FileResult> files;
  size_t passed = 0, failed = 0, number = 0;
  double seconds = 0;
  bool interrupted = false;
  if (request.tap) std::cout << "TAP version 13\n";
  for (const std::string& path : paths) {
    files.push_back(run_tests_of(path, request));
    const FileResult& file = files.back();
    request.tap ? print_tap(file, number) : print_report(file);
    failed += file.failed();
    passed += file.tests.size() - file.failed();
    seconds += file.seconds;
    interrupted = file.interrupted;
    if (interrupted || (failed && request.fail_fast)) break;
  }
  if (request.tap) {
    std::cout << "1.." << number << "\n";
  } else {
    char line[96];
    std::snprintf(line, sizeof line, "%zu passed, %zu failed in %.2f s\n", passed, failed, seconds);
    std::cout << line;
  }
  std::cout << std::flush;
  if (!request.junit.empty()) write_file(request.junit, junit(files));
  if (interrupted) return int(Outcome::stopped);
  return failed ? kExitTestFailed : 0;
}

}  // namespace

// Exit code 0, 3 when a test failed, 6 when a file is missing.
Action add_test(Program& program) {
  const auto request = std::make_shared<TestRequest>();
  CLI::App& command = add_command(program, "test", "run the tests in Lua files");
  add_arguments(command, "files", request->files,
                "Lua files (default: test_*.lua and *_test.lua here and in tests/)");
  add_option(command, "--junit", request->junit, "write the results to a file as JUnit XML");
  add_flag(command, "--tap", request->tap, "print the results in the Test Anything Protocol");
  add_flag(command, "--fail-fast", request->fail_fast, "stop at the first failing test");
  add_option(command, "--filter", request->filter, "only the tests whose full name contains this text",
             "TEXT");
  add_option(command, "--device", request->device, "default device of tensors");
  return [=] { return carry_out("test", [&] { return run_tests(*request); }); };
}

}  // namespace lunagrad
