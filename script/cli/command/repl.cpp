#include "script/cli/command/repl.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <lua.hpp>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/core/terminal_text.h"
#include "runtime/core/version.h"
#include "script/cli/base/line_editor.h"
#include "script/cli/base/signals.h"
#include "script/cli/command/all.h"
#include "script/meta/explain.h"
#include "script/meta/library.h"
#include "script/session.h"

namespace lunagrad {
namespace {

std::string history_file() {
  const std::string folder = state_directory();
  return folder.empty() ? folder : folder + "/history";
}

// Reports the cost of an evaluation, if a user would notice it.
void report_cost(std::chrono::duration<double> time, size_t before, size_t after) {
  constexpr double kMiB = 1 << 20;
  const double change = (double(after) - double(before)) / kMiB;
  if (time.count() < 0.01 && std::abs(change) < 1) return;
  if (time.count() < 1)
    std::printf("  %.0f ms", 1e3 * time.count());
  else
    std::printf("  %.2f s", time.count());
  if (std::abs(change) >= 0.05) std::printf(", %.1f MiB in tensors (%+.1f)", double(after) / kMiB, change);
  std::printf("\n");
}

// "help", " help()": what users type to get help or to leave.
bool is_word(const std::string& line, std::string_view word) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return false;
  const std::string text = line.substr(start, line.find_last_not_of(" \t") + 1 - start);
  return text == word || text == std::string(word) + "()";
}

// Whether the text needs more lines. Compiles it in a separate state.
class Syntax {
 public:
  Syntax() : lua_(luaL_newstate()) {}
  ~Syntax() { lua_close(lua_); }
  Syntax(const Syntax&) = delete;

  bool incomplete(const std::string& text) {
    if (loads("return " + text)) return false;
    if (loads(text)) return false;
    return message_.ends_with("<eof>");
  }

 private:
  bool loads(const std::string& text) {
    const bool ok = luaL_loadbufferx(lua_, text.data(), text.size(), "=input", "t") == LUA_OK;
    if (!ok) message_ = lua_tostring(lua_, -1);
    lua_settop(lua_, 0);
    return ok;
  }

  lua_State* lua_;
  std::string message_;
};

class Repl {
 public:
  Repl()
      : editor_(history_file(), [this](const std::string& line) { return complete(line); }),
        session_([this](const Event& event) { handle(event); }, {.process_streams = true}) {}

  int run(const RunOptions& options) {
    // Ctrl-C ends an evaluation or discards a line; between the two it does nothing.
    if (editor_.interactive()) std::signal(SIGINT, SIG_IGN);
    if (editor_.interactive())
      std::cout
          << "Lunagrad " << LUNAGRAD_VERSION << ", " << LUA_RELEASE
          << ". `lg` is loaded, `_` is the last value, `;` at the end hides it, `help` and `?name` explain, "
             "Ctrl-D leaves.\n";
    // An empty script opens the Lua state with the requested device and seed.
    session_.run_text("", "input", options);
    if (session_.wait() != Outcome::ok) return exit_code_.value_or(1);
    exit_code_.reset();
    std::string text, line;
    while (!exit_code_) {
      const LineEditor::Status status = editor_.read(text.empty() ? "> " : ">> ", line);
      if (status == LineEditor::Status::cancelled) {
        text.clear();
        continue;
      }
      if (status == LineEditor::Status::end) {
        if (!text.empty()) evaluate(text);
        break;
      }
      if (text.empty() && line.starts_with('?')) {
        editor_.remember(line);
        std::cout << answer(line.substr(1));
        continue;
      }
      if (text.empty() && editor_.interactive() && is_word(line, "help")) {
        std::cout << answer("");
        continue;
      }
      if (text.empty() && editor_.interactive() && (is_word(line, "exit") || is_word(line, "quit"))) return 0;
      text += (text.empty() ? "" : "\n") + line;
      if (text.find_first_not_of(" \t\n") == std::string::npos) {
        text.clear();
        continue;
      }
      if (syntax_.incomplete(text)) continue;
      editor_.remember(text);
      evaluate(text);
      if (editor_.interactive() && text.starts_with("local ") &&
          text.find_first_of(";\n") == std::string::npos)
        std::cout << "  a local lasts for its line here; without `local` the value stays\n";
      text.clear();
    }
    if (editor_.interactive() && !exit_code_) std::cout << "\n";
    return exit_code_.value_or(0);
  }

 private:
  void evaluate(const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    const size_t before = session_.memory().in_use;
    Signals signals;
    std::mutex waking;  // held until the session's thread no longer uses `signals`
    bool done = false;
    session_.eval(text, [&](bool) {
      const std::lock_guard lock(waking);
      done = true;
      signals.wake();
    });
    const auto is_done = [&] {
      const std::lock_guard lock(waking);
      return done;
    };
    for (int seen = 0; !is_done();) {
      signals.wait(-1);
      for (; seen < signals.count(); ++seen) session_.interrupt();
    }
    if (editor_.interactive())
      report_cost(std::chrono::steady_clock::now() - start, before, session_.memory().in_use);
    std::fflush(stdout);
  }

  std::vector<std::string> complete(const std::string& line) {
    std::promise<std::vector<std::string>> names;
    session_.complete(line, [&](std::vector<std::string> found) { names.set_value(std::move(found)); });
    return names.get_future().get();
  }

  // Called on the session's thread while the main thread waits.
  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::output:
        std::fwrite(event.text.data(), 1, event.text.size(), stdout);
        break;
      case Event::Kind::warning:
      case Event::Kind::not_finite:
      case Event::Kind::growth:
        std::fprintf(stderr, "warning: %s\n", terminal_text(event.text).c_str());
        break;
      case Event::Kind::error:
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", terminal_text(event.text).c_str());
        break;
      case Event::Kind::ended:
        exit_code_ = event.exit_code;
        break;
      default:
        break;
    }
  }

  std::optional<int> exit_code_;  // set by the `ended` event
  Syntax syntax_;
  LineEditor editor_;  // first: it sets the locale, which the session's thread copies
  Session session_;
};

}  // namespace

int run_repl(const RunOptions& options) { return Repl().run(options); }

Action add_repl(Program& program) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& command = add_command(program, "repl", "an interactive prompt");
  add_option(command, "--seed", options->seed, "seed of the random numbers (default 0)");
  add_option(command, "--device", options->device, "default device of tensors");
  set_footer(
      command,
      "Expressions print their values, unless the line ends with a semicolon; `_` is the last value, `?name` "
      "shows help. On a terminal, Tab completes names, methods and paths, Ctrl-R searches earlier lines, "
      "Ctrl-C stops an evaluation, Ctrl-D exits. Slow or large evaluations report their time and memory.");
  return [=] { return run_repl(*options); };
}

}  // namespace lunagrad
