#include "script/meta/topics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <optional>
#include <vector>

#include "runtime/op.h"
#include "script/meta/library.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

// The documents, of which each section is a topic; one without sections is one topic.
constexpr const char* kDocuments[] = {"guide", "window", "reference", "operations"};

// "Exit codes" -> "exit-codes"
std::string name_of(const std::string& title) {
  std::string name;
  for (const char c : title)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += char(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ' && !name.empty() && name.back() != '-')
      name += '-';
  return name;
}

// The topics of a Markdown document as plain text: a section holds the sections within it, code is indented.
void read_topics(const std::string& document, std::vector<Topic>& topics) {
  std::ifstream in(library_directory() + "/../docs/" + document + ".md");
  const size_t before = topics.size();
  std::array<std::optional<size_t>, 3>
      open;  // the topic of the title and of the sections that go on, by their level
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      continue;
    }
    const size_t level = fenced ? 0 : std::min(line.find_first_not_of('#'), line.size());
    if (level >= 1 && level <= 3 && line.size() > level + 1) {
      const std::string title = line.substr(level + 1);
      std::fill(open.begin() + long(level) - 1, open.end(), std::nullopt);
      open[level - 1] = topics.size();
      topics.push_back({document, name_of(title), ""});
      line = title;
    }
    for (const std::optional<size_t>& topic : open)
      if (topic && (topic != open[0] || !open[1]))
        topics[*topic].text += (fenced ? "    " : "") + line + "\n";
  }
  if (topics.size() > before + 1)
    topics.erase(topics.begin() + long(before));  // the title of a document with sections
}

}  // namespace

const std::vector<Topic>& topic_list() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> found;
    for (const char* document : kDocuments) read_topics(document, found);
    return found;
  }();
  return topics;
}

std::string explain_name(const std::string& name) {
  std::string plain = name;
  for (const char* prefix : {"lg.", "x:", "F.", "Tensor."})
    if (plain.starts_with(prefix)) plain.erase(0, std::string(prefix).size());
  bool in_place = false;
  const Signature* signature = find_signature(plain);
  if (!signature && plain.ends_with('_')) {
    plain.pop_back();
    signature = find_signature(plain);
    in_place = signature && has_in_place_form(*signature->op);
    if (!in_place) return {};
  }
  if (!signature || signature->op->hidden()) return {};
  const Op& op = *signature->full;  // the slots are its own
  std::string text = "lg." + plain + "(" + signature->names + ")\n  " + op.doc + "\n";
  for (const Slot& slot : signature->slots) {
    if (slot.is_input) continue;
    const ParamSpec& spec = signature->full->params[slot.index];
    text += "  " + std::string(spec.name);
    if (spec.fallback.present()) text += " = " + print_value(spec, spec.fallback);
    if (!spec.choices.empty()) {
      text += " (";
      for (size_t i = 0; i < spec.choices.size(); ++i)
        text += std::string(i ? ", \"" : "\"") + spec.choices[i] + '"';
      text += ")";
    }
    text += "\n";
  }
  if (in_place) text += "  " + plain + "_ writes the result into its first operand.\n";
  if (!op.vjp && !op.compose) text += "  Not differentiable.\n";
  return text;
}

std::string list_topics() {
  constexpr size_t kIndent = 14, kWidth = 100;
  std::string text, line;
  const char* document = "";
  const auto end_line = [&] {
    if (!line.empty()) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    line = std::string(kIndent, ' ');
  };
  for (const Topic& topic : topic_list()) {
    if (topic.document != document || line.size() + topic.name.size() > kWidth) end_line();
    if (topic.document != document) line.replace(2, topic.document.size(), topic.document);
    document = topic.document.c_str();
    line += topic.name + "  ";
  }
  end_line();
  return text +
         "  NAME        what a script can call: matmul, nn.Linear, DataLoader, x:size, run; or a command\n";
}

}  // namespace lunagrad
