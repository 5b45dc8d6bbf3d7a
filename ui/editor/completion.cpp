#include "ui/editor/completion.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "script/meta/help.h"
#include "script/meta/signature.h"
#include "script/meta/topics.h"
#include "ui/editor/definition.h"
#include "ui/text/lua_highlight.h"

namespace lunagrad {
namespace {

constexpr int kWordLines = 20000;  // lines of the text that are searched for names
constexpr size_t kMostProposals = 500;

// Splits a line at commas, without spaces around the pieces.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    part = part.substr(0, part.find_last_not_of(" \t\r;") + 1);
    parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

bool is_path(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](char c) { return in_name(c) || c == '.'; });
}

// The value of a local, if it is a path or a module of the library; otherwise "".
std::string value_of(const TextBuffer& buffer, const std::string& name) {
  for (int i = 0; i < std::min(buffer.line_count(), kWordLines); ++i) {
    std::string_view line = buffer.line(i);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("local ")) continue;
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const auto names = split(line.substr(6, equals - 6)), values = split(line.substr(equals + 1));
    for (size_t k = 0; k < std::min(names.size(), values.size()); ++k) {
      if (names[k] != name) continue;
      if (is_path(values[k])) return values[k];
      if (values[k].starts_with("require")) {
        const size_t begin = values[k].find_first_of("\"'");
        const size_t end = begin == std::string::npos ? begin : values[k].find_first_of("\"'", begin + 1);
        if (end == std::string::npos) return {};
        const std::string module = values[k].substr(begin + 1, end - begin - 1);
        if (module == "lunagrad") return "lg";
        if (module.starts_with("lunagrad.")) return "lg" + module.substr(8);
      }
      return {};
    }
  }
  return {};
}

const char* arguments_of(const std::string& name) {
  const Signature* signature = find_signature(name);
  if (!signature && name.ends_with('_'))
    signature = find_signature(std::string_view(name).substr(0, name.size() - 1));
  return signature && !signature->op->hidden() ? signature->names.c_str() : "";
}

// The annotation of a function of the library: "lg.nn.Linear".
const HelpEntry* annotation_of(const std::string& name) {
  static const std::map<std::string_view, const HelpEntry*> functions = [] {
    std::map<std::string_view, const HelpEntry*> found;
    for (const HelpEntry& entry : help_entries())
      if (entry.kind == HelpEntry::Kind::function) found.emplace(entry.name, &entry);
    return found;
  }();
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace

std::string explain_path(const std::string& path) {
  const size_t last = path.find_last_of(".:");
  const bool library = path.starts_with("lg.");
  if (!library && path.find(':') == path.npos) return {};
  if (const HelpEntry* entry = library ? annotation_of(path) : nullptr)
    return entry->call + "\n" + entry->text;
  return explain_name(path.substr(last + 1));
}

std::string resolved_path(const TextBuffer& buffer, const std::string& path) {
  constexpr int kDepth = 4;
  std::string result = path;
  for (int depth = 0; depth < kDepth; ++depth) {
    const size_t end = result.find_first_of(".:");
    const std::string first = result.substr(0, end);
    const std::string value = value_of(buffer, first);
    if (value.empty() || value == first) return result;
    result = value + (end == std::string::npos ? "" : result.substr(end));
    if (value == "lg") return result;
  }
  return result;
}

Completion::Completion(std::function<void()> wake) : answer_(std::make_shared<Answer>()) {
  answer_->wake = std::move(wake);
}

void Completion::close() {
  open_ = false;
  proposals_.clear();
  const std::lock_guard lock(answer_->mutex);
  ++answer_->number;
  answer_->fresh = false;
}

void Completion::add(std::string name, const char* origin) {
  if (name == prefix_ || !name.starts_with(prefix_) || proposals_.size() >= kMostProposals) return;
  const auto at = std::lower_bound(proposals_.begin(), proposals_.end(), name,
                                   [](const Proposal& p, const std::string& n) { return p.name < n; });
  if (at != proposals_.end() && at->name == name) return;
  const std::string help = explain_path(path_ + name);
  std::string arguments = help.empty() ? "" : arguments_of(name);
  if (const HelpEntry* entry = path_.starts_with("lg.") ? annotation_of(path_ + name) : nullptr)
    arguments = entry->call.substr(entry->name.size());
  else if (!arguments.empty())
    arguments = "(" + arguments + ")";
  proposals_.insert(at, {name, arguments.empty() ? origin : arguments, help});
}

void Completion::merge(const std::vector<std::string>& names) {
  for (const std::string& name : names) add(name, "");
}

void Completion::ask(SessionConsole& session, const TextBuffer& buffer) {
  const TextPosition caret = buffer.caret();
  const std::string& line = buffer.line(caret.line);
  auto begin = size_t(caret.column);
  while (begin > 0 && in_name(line[begin - 1])) --begin;
  size_t start = begin;  // start of the path
  while (start > 0 && (in_name(line[start - 1]) || line[start - 1] == '.' || line[start - 1] == ':')) --start;
  const std::string written = line.substr(start, begin - start);
  close();
  prefix_ = line.substr(begin, size_t(caret.column) - begin);
  if (written.ends_with("..") || (!prefix_.empty() && std::isdigit(static_cast<unsigned char>(prefix_[0]))))
    return;
  replaced_ = {{caret.line, int(begin)}, caret};
  path_ = written.empty() ? "" : resolved_path(buffer, written);
  open_ = true;

  // Names in the text: all names if there is no path, otherwise the names that follow the same path.
  std::set<std::string> seen;
  std::vector<LuaToken> tokens;
  LuaOpen open = 0;
  for (int i = 0; i < std::min(buffer.line_count(), kWordLines); ++i) {
    const std::string& text = buffer.line(i);
    tokens.clear();
    open = lua_tokens(text, open, tokens);
    for (const LuaToken& token : tokens) {
      if (token.part != LuaPart::name || token.end - token.begin < 2) continue;
      if (i == caret.line && token.end == caret.column) continue;
      const std::string_view before = std::string_view(text).substr(0, size_t(token.begin));
      const bool follows = before.ends_with('.') || before.ends_with(':');
      if (written.empty() ? follows : !before.ends_with(written)) continue;
      seen.insert(text.substr(size_t(token.begin), size_t(token.end - token.begin)));
    }
  }
  for (const std::string& name : seen) add(name, "in this text");
  // After a colon a tensor's methods are offered, whatever the name before it is.
  if (path_.ends_with(':'))
    for (const Signature& signature : signatures()) {
      const Op& op = *signature.op;
      if (op.hidden() || op.inputs.empty() || op.inputs[0].list) continue;
      add(op.name, "");
      if (has_in_place_form(op)) add(op.name + std::string("_"), "");
    }
  if (path_.empty() && prefix_.empty()) return;
  uint64_t number;
  {
    const std::lock_guard lock(answer_->mutex);
    number = ++answer_->number;
  }
  session.complete(path_ + prefix_, [answer = answer_, number](std::vector<std::string> names) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(answer->mutex);
      if (number != answer->number) return;
      answer->names = std::move(names);
      answer->fresh = true;
      wake = answer->wake;
    }
    if (wake) wake();
  });
}

const std::vector<Proposal>& Completion::proposals() {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(answer_->mutex);
    if (answer_->fresh) names.swap(answer_->names);
    answer_->fresh = false;
  }
  merge(names);
  return proposals_;
}

}  // namespace lunagrad
