#include "script/meta/help.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>
#include <tuple>

#include "runtime/core/lower_case.h"
#include "script/meta/annotations.h"
#include "script/meta/library.h"
#include "script/meta/signature.h"
#include "script/meta/topics.h"
#include "script/parts/names.h"

namespace lunagrad {
namespace {

// What scripts write before the functions of an annotated class: the class "lunagrad.nn.init" is the table
// lg.nn.init. A class whose name begins with a capital is a class of objects: "lunagrad.nn.Module" gives
// "Module:".
std::string prefix_of(const std::string& type) {
  if (type == "lunagrad") return "lg.";
  const std::string last = type.substr(type.find_last_of('.') + 1);
  if (last == "Tensor") return "x:";
  if (std::isupper(static_cast<unsigned char>(last[0]))) return last + ":";
  return "lg." + type.substr(type.find('.') + 1) + ".";
}

// Formats "input Tensor|nil the logits" as "  input  Tensor|nil  the logits". A type may contain spaces
// inside brackets.
std::string argument_line(std::string_view text) {
  const size_t name = std::min(text.find(' '), text.size());
  size_t end = std::min(name + 1, text.size());
  for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ' '); ++end) {
    if (text[end] == '{' || text[end] == '(' || text[end] == '<') ++depth;
    if (text[end] == '}' || text[end] == ')' || text[end] == '>') --depth;
    // The space in `fun(): number` does not end the type.
    if (end + 1 < text.size() && text[end] == ':' && text[end + 1] == ' ') ++end;
  }
  std::string line = "  " + std::string(text.substr(0, name));
  if (name < text.size()) line += "  " + std::string(text.substr(name + 1, end - name - 1));
  if (end < text.size()) line += "  " + std::string(text.substr(end + 1));
  return line + "\n";
}

// "fun(params: P, options?: O): R" as @param and @return lines, and the argument names for a call.
struct FunctionType {
  std::string arguments, names;
};
FunctionType read_function_type(std::string_view type) {
  FunctionType read;
  if (!type.starts_with("fun(")) return read;
  size_t start = 4, at = start;
  for (int depth = 1; at < type.size() && depth > 0; ++at) {
    if (type[at] == '{' || type[at] == '(' || type[at] == '<') ++depth;
    if (type[at] == '}' || type[at] == ')' || type[at] == '>') --depth;
    if (depth > 1 || (depth == 1 && type[at] != ',')) continue;  // not yet the end of an argument
    const std::string_view argument = type.substr(start, at - start);
    const size_t colon = std::min(argument.find(": "), argument.size());
    read.arguments += argument_line(std::string(argument.substr(0, colon)) + " " +
                                    std::string(argument.substr(std::min(colon + 2, argument.size()))));
    read.names +=
        (read.names.empty() ? "" : ", ") + std::string(argument.substr(0, argument.find_first_of("?:")));
    start = std::min(at + 2, type.size());
  }
  if (type.substr(at).starts_with(": "))
    read.arguments += "  returns  " + std::string(type.substr(at + 2)) + "\n";
  return read;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<HelpEntry> read_annotations(std::string_view file) {
  std::vector<HelpEntry> entries;
  std::map<std::string, std::string> prefixes;  // by the name of the file's local table
  std::string sentences, arguments, type, names;
  std::istringstream in{std::string(file)};
  for (std::string line; std::getline(in, line);) {
    const auto rest = [&](std::string_view start) { return line.substr(start.size()); };
    if (line.starts_with("---@class ")) {
      type = rest("---@class ");
      type.resize(std::min(type.find_first_of(" :"), type.size()));
    } else if (line.starts_with("---@param ")) {
      arguments += argument_line(rest("---@param "));
    } else if (line.starts_with("---@return ")) {
      arguments += "  returns  " + rest("---@return ") + "\n";
    } else if (line.starts_with("---@type fun(")) {
      const FunctionType function = read_function_type(rest("---@type "));
      arguments += function.arguments;
      names = function.names;
    } else if (line.starts_with("---@")) {
      continue;
    } else if (line.starts_with("---")) {
      sentences += rest("---") + "\n";
    } else {
      if (line.starts_with("local ") && line.ends_with(" = {}") && !type.empty()) {
        prefixes[line.substr(6, line.size() - 11)] = prefix_of(type);
      } else if (line.starts_with("function ")) {
        const size_t open = line.find('('), close = line.rfind(')');
        const size_t joint = line.find_first_of(".:", 9);
        if (open != line.npos && close != line.npos && joint < open) {
          const std::string table = line.substr(9, joint - 9),
                            name = line.substr(joint + 1, open - joint - 1);
          const auto known = prefixes.find(table);
          const std::string full = (known == prefixes.end() ? table + "." : known->second) + name;
          entries.push_back({HelpEntry::Kind::function, full, full + line.substr(open, close + 1 - open),
                             sentences + arguments});
        }
      } else if (!names.empty() && line.find(" = ") != line.npos) {
        // A function that is made by an assignment, as in optim.Adam = class(...), with its type in the lines
        // above.
        const size_t joint = line.find('.');
        const auto known = prefixes.find(line.substr(0, std::min(joint, line.size())));
        if (known != prefixes.end() && joint < line.find(" = ")) {
          const std::string full = known->second + line.substr(joint + 1, line.find(" = ") - joint - 1);
          entries.push_back(
              {HelpEntry::Kind::function, full, full + "(" + names + ")", sentences + arguments});
        }
      }
      for (std::string* read : {&sentences, &arguments, &type, &names}) read->clear();
    }
  }
  return entries;
}

const std::vector<HelpEntry>& help_entries() {
  static const std::vector<HelpEntry> entries = [] {
    std::vector<HelpEntry> made;
    for (const Signature& signature : signatures()) {
      if (signature.op->hidden()) continue;
      std::string text = explain_name(signature.op->name);
      text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);  // the call is a separate field
      made.push_back({HelpEntry::Kind::operation, signature.op->name,
                      "lg." + std::string(signature.op->name) + "(" + signature.names + ")", text});
    }
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"/meta", "/lunagrad/optim"}) {
      const std::ptrdiff_t before = std::ssize(files);
      std::error_code failed;
      for (const auto& file : std::filesystem::directory_iterator(library_directory() + folder, failed))
        if (file.path().extension() == ".lua" && !is_left_out("lg." + file.path().stem().string()))
          files.push_back(file.path());
      std::sort(files.begin() + before, files.end());
    }
    for (const auto& file : files)
      for (HelpEntry& entry : read_annotations(content(file)))
        if (!entry.text.empty() || file.parent_path().filename() == "meta") made.push_back(std::move(entry));
    std::ostringstream formats;
    print_format_meta(formats);
    for (HelpEntry& entry : read_annotations(formats.str())) made.push_back(std::move(entry));
    for (const Topic& topic : topic_list())
      made.push_back({HelpEntry::Kind::section, topic.name, topic.document, topic.text});
    std::erase_if(made, [](const HelpEntry& entry) { return is_left_out(entry.name); });
    return made;
  }();
  return entries;
}

std::vector<const HelpEntry*> search_help(std::string_view query) {
  std::vector<std::string> words;
  std::istringstream in(lower_case(std::string(query)));
  for (std::string word; in >> word;) words.push_back(word);
  // Rank 0: the name is the first word; 1: it begins with it and contains all words; 2: it contains all
  // words; 3: name, call and text together contain them.
  std::vector<std::tuple<int, const HelpEntry*>> found;
  const auto holds = [&](const std::string& text) {
    return std::all_of(words.begin(), words.end(),
                       [&](const std::string& word) { return text.find(word) != text.npos; });
  };
  for (const HelpEntry& entry : help_entries()) {
    const std::string name = lower_case(entry.name);
    if (!holds(name + " " + lower_case(entry.call + " " + entry.text))) continue;
    const std::string last = name.substr(name.find_last_of(".:") + 1);
    const bool exact = words.empty() || last == words[0];
    found.emplace_back(exact ? 0 : !holds(name) ? 3 : last.starts_with(words[0]) ? 1 : 2, &entry);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  std::vector<const HelpEntry*> entries;
  for (const auto& [rank, entry] : found) entries.push_back(entry);
  return entries;
}

}  // namespace lunagrad
