// `lunagrad completion` and `lunagrad man`: shell completions and the manual page, generated from the
// declarations of the commands.
#include <functional>
#include <iostream>
#include <memory>

#include "runtime/core/version.h"
#include "script/cli/command/all.h"
#include "script/meta/explain.h"
#include "script/meta/topics.h"

namespace lunagrad {
namespace {

// Calls f(path, command) for the program (path "") and each command in it (" runs", " runs ls").
void each_command(const CommandText& command, const std::string& path,
                  const std::function<void(const std::string&, const CommandText&)>& f) {
  f(path, command);
  for (const CommandText& inner : command.commands) each_command(inner, path + " " + inner.name, f);
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::string in_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// The part of bash's and zsh's function that sets `at` to the command at the cursor.
void print_search(std::ostream& out, const CommandText& program, const char* loop, const char* word) {
  out << "  local at= i\n  for ((" << loop << "; ++i)); do\n    case \"$at " << word << "\" in\n";
  each_command(program, "", [&](const std::string& path, const CommandText&) {
    if (!path.empty()) out << "      (\"" << path << "\") at=\"" << path << "\" ;;\n";
  });
  out << "    esac\n  done\n  case $at in\n";
}

void print_bash(std::ostream& out, const CommandText& program) {
  out << "_" << program.name << "() {\n";
  print_search(out, program, "i = 1; i < COMP_CWORD", "${COMP_WORDS[i]}");
  each_command(program, "", [&](const std::string& path, const CommandText& command) {
    out << "    (\"" << path << "\") COMPREPLY=($(compgen -W '";
    for (const CommandText& inner : command.commands) out << inner.name << " ";
    for (const FlagText& flag : command.flags)
      for (const std::string& name : flag.names) out << name << " ";
    out << "' -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n";
  });
  out << "  esac\n}\ncomplete -o default -F _" << program.name << " " << program.name << "\n";
}

void print_zsh(std::ostream& out, const CommandText& program) {
  out << "#compdef " << program.name << "\n_" << program.name << "() {\n  local -a known\n";
  print_search(out, program, "i = 2; i < CURRENT", "${words[i]}");
  const auto entry = [&](const std::string& name, const std::string& about) {
    out << " " << in_quotes(name + ":" + replaced(about, ":", "\\:"));
  };
  each_command(program, "", [&](const std::string& path, const CommandText& command) {
    out << "    (\"" << path << "\") known=(";
    for (const CommandText& inner : command.commands) entry(inner.name, inner.about);
    for (const FlagText& flag : command.flags)
      for (const std::string& name : flag.names) entry(name, flag.about);
    out << ") ;;\n";
  });
  out << "  esac\n  _describe " << program.name << " known\n  _files\n}\n"
      << "if [ \"$funcstack[1]\" = \"_" << program.name << "\" ]; then _" << program.name
      << "; else compdef _" << program.name << " " << program.name << "; fi\n";
}

void print_fish(std::ostream& out, const CommandText& program) {
  each_command(program, "", [&](const std::string& path, const CommandText& command) {
    const std::string where =
        "complete -c " + program.name +
        (path.empty() ? " -n __fish_use_subcommand"
                      : " -n '__fish_seen_subcommand_from " + path.substr(path.rfind(' ') + 1) + "'");
    for (const CommandText& inner : command.commands)
      out << where << " -a " << inner.name << " -d " << in_quotes(inner.about) << "\n";
    for (const FlagText& flag : command.flags) {
      if (flag.names.empty()) continue;
      out << where;
      for (const std::string& name : flag.names)
        out << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
      out << (flag.value.empty() ? "" : " -r") << " -d " << in_quotes(flag.about) << "\n";
    }
  });
}

// Escapes text for troff, including a line that begins with a control character.
std::string troff(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  safe = replaced(replaced(safe, "\n.", "\n\\&."), "\n'", "\n\\&'");
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

void print_flags(std::ostream& out, const CommandText& command) {
  for (const FlagText& flag : command.flags) {
    std::string names;
    for (const std::string& name : flag.names) names += (names.empty() ? "" : ", ") + name;
    if (!flag.value.empty()) names += (names.empty() ? "" : " ") + flag.value;
    out << ".TP\n.B " << troff(names) << "\n" << troff(flag.about) << "\n";
  }
}

void print_completion(std::ostream& out, const CommandText& program, const std::string& shell) {
  if (shell == "bash") return print_bash(out, program);
  if (shell == "zsh") return print_zsh(out, program);
  return print_fish(out, program);
}

// The manual page lunagrad(1), in troff's man macros.
void print_man_page(std::ostream& out, const CommandText& program) {
  out << ".TH LUNAGRAD 1 \"\" \"Lunagrad " << LUNAGRAD_VERSION << "\"\n.SH NAME\nlunagrad \\- "
      << troff(program.about) << "\n.SH SYNOPSIS\n.B lunagrad\n.I COMMAND\n[flags]\n.br\n.B lunagrad\n"
      << ".I SCRIPT.lua\n[ARGS]\n.br\n.B lunagrad \\-e\n.I CODE\n[ARGS]\n.SH OPTIONS\n";
  print_flags(out, program);
  out << ".SH COMMANDS\n";
  each_command(program, "", [&](const std::string& path, const CommandText& command) {
    if (path.empty()) return;
    out << ".SS lunagrad" << troff(path) << "\n" << troff(command.about) << "\n";
    print_flags(out, command);
  });
  const std::pair<const char*, const char*> sections[] = {
      {"SCRIPTS", "script"}, {"FILES", "run-folder"}, {"FORMATS", "formats"}, {"EXIT STATUS", "exit-codes"}};
  for (const auto& [title, topic] : sections) {
    const std::string text = explain_topic(topic);  // the manual page has its own title
    out << ".SH " << title << "\n.nf\n" << troff(text.substr(text.find("\n\n") + 2)) << ".fi\n";
  }
}

}  // namespace

Action add_completion(Program& program) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = add_command(program, "completion", "print shell completions");
  add_argument(command, "SHELL", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish");
  return [shell, &app = program.app] {
    print_completion(std::cout, describe(app), *shell);
    return 0;
  };
}

Action add_man(Program& program) {
  add_command(program, "man", "print the manual page, for man -l -");
  return [&app = program.app] {
    print_man_page(std::cout, describe(app));
    return 0;
  };
}

}  // namespace lunagrad
