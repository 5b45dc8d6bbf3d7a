#include "script/meta/topics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>
#include <vector>

#include "runtime/core/op.h"
#include "runtime/io/format.h"
#include "script/meta/library.h"
#include "script/meta/op_table.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

// Each section of these documents is a topic; a document without sections is one topic. All are files in
// docs/, except for the table of ops.
constexpr const char* kDocuments[] = {"tutorial", "find-the-bug", "guide",      "distributed",    "sweeps",
                                      "window",   "reference",    "operations", "pytorch",        "sharing",
                                      "trust",    "embedding",    "python",     "troubleshooting"};

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

// Replaces Markdown links by their texts: "see [files](guide.md#files)" -> "see files".
std::string without_links(const std::string& line) {
  std::string text;
  for (size_t at = 0; at < line.size();) {
    const size_t open = line.find('[', at), middle = line.find("](", open), close = line.find(')', middle);
    if (close == std::string::npos || line.find('[', open + 1) < middle) {
      const size_t end = open == std::string::npos ? line.size() : open + 1;
      text += line.substr(at, end - at);
      at = end;
      continue;
    }
    text += line.substr(at, open - at) + line.substr(open + 1, middle - open - 1);
    at = close + 1;
  }
  return text;
}

// Appends the topics of a Markdown document as plain text. A section includes its subsections; code is
// indented; pictures and the targets of links are left out.
void read_topics(const std::string& document, std::istream& in, std::vector<Topic>& topics) {
  const size_t before = topics.size();
  std::array<std::optional<size_t>, 3> open;  // the topics that contain the current line, by heading level
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      continue;
    }
    if (!fenced && line.starts_with("![")) continue;
    const size_t level = fenced ? 0 : std::min(line.find_first_not_of('#'), line.size());
    if (level >= 1 && level <= 3 && line.size() > level + 1) {
      const std::string title = line.substr(level + 1);
      std::fill(open.begin() + long(level) - 1, open.end(), std::nullopt);
      open[level - 1] = topics.size();
      topics.push_back({document, name_of(title), "", level == 3});
      line = title;
    }
    if (!fenced && !line.starts_with("    ")) line = without_links(line);
    for (const std::optional<size_t>& topic : open)
      if (topic && (topic != open[0] || !open[1]))
        topics[*topic].text += (fenced ? "    " : "") + line + "\n";
  }
  if (topics.size() > before) topics[before].name = document;
}

// A line for each file format, from its record.
std::string list_formats() {
  std::string text;
  for (const FileFormat* format : file_formats()) {
    std::string name = format->name;
    name.resize(14, ' ');
    text += "    " + name + format->about + "\n";
  }
  return text;
}

}  // namespace

const std::vector<Topic>& topic_list() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> found;
    for (const std::string document : kDocuments) {
      if (document == "operations") {
        std::istringstream table(op_table());
        read_topics(document, table, found);
      } else {
        std::ifstream file(library_directory() + "/../docs/" + document + ".md");
        read_topics(document, file, found);
      }
    }
    for (Topic& topic : found)
      if (topic.name == "formats") topic.text += list_formats();
    return found;
  }();
  return topics;
}

std::string document_text(const std::string& document) {
  std::string text;
  for (const Topic& topic : topic_list())
    if (topic.document == document && !topic.nested) text += topic.text;
  return text;
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
  const Op& op = *signature->full;  // the record that the slots refer to
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
  if (in_place) text += "  " + plain + "_ works in place: it writes the result into its first operand.\n";
  if (!op.vjp && !op.compose) text += "  Not differentiable.\n";
  return text;
}

std::string list_topics() {
  constexpr size_t kWidth = 100;
  size_t indent = 0;  // fits the longest document name
  for (const Topic& topic : topic_list()) indent = std::max(indent, topic.document.size() + 4);
  std::string text, line;
  const char* document = "";
  const auto end_line = [&] {
    if (!line.empty()) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    line = std::string(indent, ' ');
  };
  for (const Topic& topic : topic_list()) {
    if (topic.document != document || line.size() + topic.name.size() > kWidth) end_line();
    if (topic.document != document) line.replace(2, topic.document.size(), topic.document);
    document = topic.document.c_str();
    if (topic.name != topic.document) line += topic.name + "  ";
  }
  end_line();
  return text + "  NAME" + std::string(indent - 6, ' ') +
         "a command, or anything that a script can call: matmul, nn.Linear, DataLoader, x:size\n";
}

}  // namespace lunagrad
