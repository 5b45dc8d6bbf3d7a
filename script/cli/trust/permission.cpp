#include "script/cli/trust/permission.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "script/cli/base/run_flags.h"
#include "script/run/params.h"
#include "script/run/record.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace {

constexpr size_t kShownLines = 10, kShownColumns = 100;

// Makes text of other users unable to move the cursor or to colour the text after it.
std::string plain(std::string_view text, size_t most = kShownColumns) {
  std::string shown;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", byte);
    // 0x80 to 0x9f after 0xc2 are control characters, too.
    const bool control = byte < ' ' || byte == 0x7f || (byte >= 0x80 && byte < 0xa0);
    shown += c == '\t' ? "    " : control ? escape : std::string(1, c);
  }
  return text.size() > most ? shown + " …" : shown;
}

void show(const char* command, const ForeignCode& code) {
  std::cerr << "lunagrad " << command << ": " << plain(code.name)
            << " was not made by you here: " << plain(code.origin.why, 400) << "\nIts script "
            << plain(code.script) << " begins:\n";
  std::string_view rest = code.source;
  for (size_t i = 0; i < kShownLines && !rest.empty(); ++i) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::cerr << "  | " << plain(rest.substr(0, end)) << "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto lines = std::count(rest.begin(), rest.end(), '\n');
  if (!rest.empty()) std::cerr << "  | … " << lines + !rest.ends_with('\n') << " more lines\n";
  std::cerr << "Trusted, it can read, change and send all of your files. In the sandbox it reads its own "
               "folder, and writes nothing else.\n"
            << "t: trust it, now and later   s: run it in the sandbox   n: do not run it [n] " << std::flush;
}

enum class Answer { trust, sandbox, no };

Answer ask(const char* command, const ForeignCode& code) {
  show(command, code);
  std::string line;
  if (!std::getline(std::cin, line)) std::cerr << "\n";
  if (line == "t" || line == "trust") return Answer::trust;
  if (line == "s" || line == "sandbox") return Answer::sandbox;
  return Answer::no;
}

}  // namespace

void add_trust_flag(CLI::App& command, TrustFlags& flags, const char* about) {
  add_flag(command, "--trust", flags.trust, about);
}

void add_trust_flags(CLI::App& command, TrustFlags& flags) {
  add_trust_flag(command, flags,
                 "run what somebody else has made with your rights, now and later: lunagrad help trust");
  add_limits(command, flags.limits);
  add_exclusion(command, "--trust", "--sandbox");
}

ReplayOptions Permission::options(const TrustFlags& flags) const {
  ReplayOptions options;
  options.limits.confined = confined;
  options.limits.sandbox = flags.limits.options.sandbox;
  options.limits.memory = flags.limits.options.memory;
  options.limits.disk = flags.limits.options.disk;
  return options;
}

std::string text_of(const std::string& folder, const std::string& file) {
  try {
    return read_file(file_inside(folder, file, folder));
  } catch (const Error&) {  // the code that runs it reports the error
    return {};
  }
}

ForeignCode code_of_run(const std::string& name, const std::string& folder, RunOrigin origin) {
  return {name, std::move(origin), read_run_config(folder).script, text_of(folder, "script.lua")};
}

Permission permission_for(const char* command, const ForeignCode& code, const TrustFlags& flags) {
  if (code.origin.own) return {};
  if (flags.limits.options.sandbox) return {.confined = true};
  if (flags.trust) {
    remember_trust(code.origin.content, code.name);
    return {};
  }
  if (is_trusted(code.origin.content)) return {};
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
    throw UsageError(text(plain(code.name), ": was not made by you here: ", plain(code.origin.why, 400),
                          ". --trust runs it with your rights, --sandbox with limits: lunagrad help trust"));
  switch (ask(command, code)) {
    case Answer::trust:
      remember_trust(code.origin.content, code.name);
      return {};
    case Answer::sandbox:
      return {.confined = true};
    case Answer::no:
      break;
  }
  throw UsageError(plain(code.name) + ": was not run");
}

Permission permission_for(const char* command, const std::string& folder, const TrustFlags& flags) {
  refuse_special(folder);
  const RunRecord run = read_run_config(folder);
  if (run.config_damaged) fail_as(ErrorKind::file, folder, ": config.json is damaged");
  if (run.script.empty()) fail_as(ErrorKind::file, folder, "/config.json: does not say what was run");
  for (const auto& [name, sum] : run.scripts) read_script_copy(run, name);
  return permission_for(command, code_of_run(folder, folder, origin_of_run(folder)), flags);
}

}  // namespace lunagrad
