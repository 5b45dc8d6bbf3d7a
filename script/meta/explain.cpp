#include "script/meta/explain.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "runtime/core/lower_case.h"
#include "script/meta/help.h"
#include "script/meta/signature.h"
#include "script/meta/topics.h"

namespace lunagrad {
namespace {

std::string last_of(const std::string& path) { return path.substr(path.find_last_of(".:") + 1); }

// Whether `path` is `end` or ends with it after a dot or colon: "lg.nn.Linear" ends in "nn.Linear" and
// "Linear".
bool ends_in(const std::string& path, const std::string& end) {
  if (!path.ends_with(end)) return false;
  const size_t before = path.size() - end.size();
  return before == 0 || path[before - 1] == '.' || path[before - 1] == ':';
}

// An entry's call, then its text with every line indented.
std::string page(const HelpEntry& entry) {
  std::string text = entry.call + "\n";
  bool starts = true;
  for (const char c : entry.text) {
    if (starts && c != ' ' && c != '\n') text += "  ";
    text += c;
    starts = c == '\n';
  }
  return text;
}

// The pages of all functions whose name satisfies `matches`.
template <class Matches>
std::string pages(const Matches& matches) {
  std::string text;
  for (const HelpEntry& entry : help_entries())
    if (entry.kind == HelpEntry::Kind::function && matches(entry.name)) text += page(entry);
  return text;
}

// The calls of a table or class: "nn", "optim.lr_scheduler", "Module", or "linalg", whose functions are ops.
std::string calls_in(const std::string& table) {
  std::string text;
  for (const HelpEntry& entry : help_entries()) {
    const size_t end = entry.name.find_last_of(".:");
    if (entry.kind != HelpEntry::Kind::section && end != std::string::npos &&
        ends_in(entry.name.substr(0, end), table))
      text += "  " + entry.call + "\n";
  }
  return text.empty() ? text : table + "\n" + text;
}

}  // namespace

size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

std::string explain(const std::string& asked) {
  if (asked.empty()) return {};
  std::string text = explain_name(asked);
  const std::string plain = asked.starts_with("lg.") ? asked.substr(3) : asked;
  if (text.empty()) text = pages([&](const std::string& name) { return name == asked; });
  if (text.empty()) text = pages([&](const std::string& name) { return ends_in(name, plain); });
  if (text.empty()) text = calls_in(plain);
  if (text.empty() && last_of(plain) != plain)
    text = explain(last_of(plain));  // nn.functional.relu is the op relu
  if (text.empty())
    text = pages([&](const std::string& name) { return ends_in(lower_case(name), lower_case(plain)); });
  return text;
}

std::string answer(const std::string& asked) {
  const size_t start = asked.find_first_not_of(" \t\n"), end = asked.find_last_not_of(" \t\n");
  if (start == std::string::npos)
    return "  ?matmul, ?nn.Linear, ?x:size     explain a function, class or method\n"
           "  ?nn, ?optim, ?data, ?io, ?run    list the functions of a module\n"
           "  lunagrad help                    in a shell: lists commands and topics\n";
  const std::string name = asked.substr(start, end - start + 1), found = explain(name);
  if (!found.empty()) return found;
  const std::string near = suggest(name, "");
  return "no help on '" + name + "'" + (near.empty() ? "; try `?matmul` or `?nn.Linear`" : near) + "\n";
}

std::string explain_topic(const std::string& topic) {
  const std::string explained = explain(topic), document = document_text(topic);
  if (!document.empty()) return document + (explained.empty() ? "" : "\n") + explained;
  std::vector<const Topic*> similar;
  for (const Topic& known : topic_list()) {
    if (known.name == topic) return explained + (explained.empty() ? "" : "\n") + known.text;
    if (known.name.find(topic) != std::string::npos) similar.push_back(&known);
  }
  if (!explained.empty()) return explained;
  return similar.size() == 1 ? similar[0]->text : std::string();
}

std::string suggest(std::string_view misspelt, std::string_view among) {
  constexpr size_t kShown = 3;
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {{"set_replay", "lg.set_deferred"},
                                                                        {"is_replaying", "lg.is_deferred"}};
  const std::string wanted = lower_case(last_of(std::string(misspelt)));
  for (const auto& [before, now] : kRenamed)
    if (wanted == before) return "; it is " + std::string(now) + " now";
  size_t least = std::max<size_t>(wanted.size() / 3, 1) + 1;
  std::set<std::string> nearest;
  for (const HelpEntry& entry : help_entries()) {
    if (entry.kind == HelpEntry::Kind::section) continue;
    const bool operation = entry.kind == HelpEntry::Kind::operation;
    if (!operation && entry.name.find(among) == std::string::npos) continue;
    // linalg.vander is a function of a table, not a method.
    if (operation && among.ends_with(':') && entry.name.find('.') != std::string::npos) continue;
    const size_t distance = edits(wanted, lower_case(last_of(entry.name)));
    if (distance > least || (distance == 0 && among == "x:"))
      continue;  // zeros is a function but not a method
    if (distance < least) nearest.clear();
    least = distance;
    nearest.insert(operation ? (among.ends_with(':') ? "x:" : "lg.") + entry.name : entry.name);
  }
  std::string text;
  for (const std::string& name : nearest) {
    if (nearest.size() > kShown) break;
    text += (text.empty() ? "; did you mean " : " or ") + name;
  }
  return text.empty() ? text : text + "?";
}

}  // namespace lunagrad
