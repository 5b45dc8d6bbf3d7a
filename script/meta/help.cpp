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

#include "script/meta/annotations.h"
#include "script/meta/library.h"
#include "script/meta/signature.h"
#include "script/meta/topics.h"

namespace lunagrad {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// How a script writes a class of the annotations: "lunagrad.nn.init" is the table lg.nn.init; one in capitals
// is known by its objects.
std::string prefix_of(const std::string& type) {
  if (type == "lunagrad") return "lg.";
  const std::string last = type.substr(type.find_last_of('.') + 1);
  if (last == "Tensor") return "x:";
  if (std::isupper(static_cast<unsigned char>(last[0]))) return last + ":";
  return "lg." + type.substr(type.find('.') + 1) + ".";
}

// "input Tensor|nil the logits" as "  input  Tensor|nil  the logits"; a type may hold spaces within brackets.
std::string argument_line(std::string_view text) {
  const size_t name = std::min(text.find(' '), text.size());
  size_t end = std::min(name + 1, text.size());
  for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ' '); ++end) {
    if (text[end] == '{' || text[end] == '(' || text[end] == '<') ++depth;
    if (text[end] == '}' || text[end] == ')' || text[end] == '>') --depth;
    // `fun(): number` and `A | B` go on behind a space.
    if (end + 1 < text.size() && text[end] == ':' && text[end + 1] == ' ') ++end;
  }
  std::string line = "  " + std::string(text.substr(0, name));
  if (name < text.size()) line += "  " + std::string(text.substr(name + 1, end - name - 1));
  if (end < text.size()) line += "  " + std::string(text.substr(end + 1));
  return line + "\n";
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<HelpEntry> read_annotations(std::string_view file) {
  std::vector<HelpEntry> entries;
  std::map<std::string, std::string> prefixes;  // of the file's local tables
  std::string sentences, arguments, type;
  std::istringstream in{std::string(file)};
  for (std::string line; std::getline(in, line);) {
    const auto rest = [&](std::string_view start) { return line.substr(start.size()); };
    if (line.starts_with("---@class ")) {
      type = rest("---@class ");
      type.resize(std::min(type.find_first_of(" :"), type.size()));
    } else if (line.starts_with("---@param ")) {
      arguments += argument_line(rest("---@param "));
    } else if (line.starts_with("---@return ")) {
      arguments += "  gives  " + rest("---@return ") + "\n";
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
      }
      sentences.clear();
      arguments.clear();
      type.clear();
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
      text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);  // the call has a field of its own
      made.push_back({HelpEntry::Kind::operation, signature.op->name,
                      "lg." + std::string(signature.op->name) + "(" + signature.names + ")", text});
    }
    std::error_code failed;
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(library_directory() + "/meta", failed))
      if (file.path().extension() == ".lua") files.push_back(file.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
      for (HelpEntry& entry : read_annotations(content(file))) made.push_back(std::move(entry));
    std::ostringstream formats;
    print_format_meta(formats);
    for (HelpEntry& entry : read_annotations(formats.str())) made.push_back(std::move(entry));
    for (const auto& [document, name, text] : topic_list())
      made.push_back({HelpEntry::Kind::section, name, document, text});
    return made;
  }();
  return entries;
}

std::vector<const HelpEntry*> search_help(std::string_view query) {
  std::vector<std::string> words;
  std::istringstream in(lower(query));
  for (std::string word; in >> word;) words.push_back(word);
  // Rank 0: the name is the query; 1: it begins so; 2: holds all words; 3: name, call and text together do.
  std::vector<std::tuple<int, const HelpEntry*>> found;
  const auto holds = [&](const std::string& text) {
    return std::all_of(words.begin(), words.end(),
                       [&](const std::string& word) { return text.find(word) != text.npos; });
  };
  for (const HelpEntry& entry : help_entries()) {
    const std::string name = lower(entry.name);
    const std::string last = name.substr(name.find_last_of(".:") + 1);
    if (words.empty() || last == words[0])
      found.emplace_back(0, &entry);
    else if (last.starts_with(words[0]) && holds(name))
      found.emplace_back(1, &entry);
    else if (holds(name))
      found.emplace_back(2, &entry);
    else if (holds(name + " " + lower(entry.call + " " + entry.text)))
      found.emplace_back(3, &entry);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  std::vector<const HelpEntry*> entries;
  for (const auto& [rank, entry] : found) entries.push_back(entry);
  return entries;
}

}  // namespace lunagrad
