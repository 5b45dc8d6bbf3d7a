#include "script/site/reference.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "script/meta/help.h"
#include "script/meta/pytorch.h"
#include "script/meta/signature.h"
#include "script/site/html.h"

namespace lunagrad {
namespace {

std::string code(const std::string& text) { return "<code>" + as_html(text) + "</code>"; }

SitePage new_page(const std::string& file, const char* group, const std::string& title,
                  const std::string& introduction) {
  SitePage page{
      "reference/" + file + ".html", group, title, "<h1>" + as_html(title) + "</h1>\n" + introduction, {}};
  page.entries.push_back({title, "", title, "", false});
  return page;
}

// A heading with an anchor. `name`: how code in a text calls the entry.
void add_heading(SitePage& page, const std::string& title, const std::string& anchor, const std::string& name,
                 const std::string& text) {
  const std::string id = free_anchor(page, anchor);
  page.body += "<h2 id=\"" + as_html(id) + "\">" + (name.empty() ? as_html(title) : code(title)) + "</h2>\n";
  page.entries.push_back({title, id, name, text});
}

// "  lr  number|nil  the rate": the name, the type and the meaning of an argument or a result.
std::string argument_html(const std::string& line) {
  const size_t type = std::min(line.find("  ", 2), line.size());
  const size_t about = std::min(line.find("  ", std::min(type + 2, line.size())), line.size());
  const std::string name = line.substr(2, type - 2);
  std::string html = "<li>" + (name == "returns" ? name : code(name));
  if (type < line.size()) html += " " + code(line.substr(type + 2, about - type - 2));
  if (about < line.size()) html += ": " + sentence_html(line.substr(about + 2));
  return html + "</li>\n";
}

// Adds an entry of the help. The lines of a function's arguments are indented; in the text of an op every
// line is, and its sentences end with a full stop.
void add_entry(SitePage& page, const HelpEntry& entry) {
  const bool operation = entry.kind == HelpEntry::Kind::operation;
  const std::string name = operation ? "lg." + entry.name : entry.name;
  add_heading(page, entry.call, name, name, entry.text);
  std::string element;
  const auto change_to = [&](const std::string& next) {
    if (element == next) return;
    if (!element.empty()) page.body += "</" + element + ">\n";
    if (!next.empty()) page.body += "<" + next + ">\n";
    element = next;
  };
  std::istringstream lines(entry.text);
  for (std::string line; std::getline(lines, line);) {
    const bool argument = line.starts_with("  ") && !(operation && line.ends_with('.'));
    const size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos) {
      change_to("");
    } else {
      change_to(argument ? "ul" : "p");
      page.body += argument ? argument_html(line) : sentence_html(line.substr(start)) + "\n";
    }
  }
  change_to("");
}

// The order of the pages: Tensor, lg, the tables in lg, then classes.
int rank_of(const std::string& table) {
  return table == "x" ? 0 : table == "lg" ? 1 : table.starts_with("lg.") ? 2 : 3;
}

void add_library(std::vector<SitePage>& pages) {
  std::map<std::pair<int, std::string>, SitePage> tables;
  for (const HelpEntry& entry : help_entries()) {
    if (entry.kind != HelpEntry::Kind::function) continue;
    const std::string table = entry.name.substr(0, entry.name.find_last_of(".:"));
    const int rank = rank_of(table);
    SitePage& page = tables[{rank, table}];
    if (page.path.empty())
      page = new_page(table == "x" ? "Tensor" : table, rank < 3 ? "Modules" : "Classes",
                      table == "x" ? "Tensor" : table,
                      "<p>Options go into a table after the other arguments. "
                      "<code>lunagrad help NAME</code> prints an entry.</p>\n");
    add_entry(page, entry);
  }
  for (auto& [key, page] : tables) pages.push_back(std::move(page));
}

struct FamilyPage {
  const char *file, *title;
};
// By OpFamily. Leaves are no ops.
constexpr std::array<FamilyPage, 8> kFamilies = {
    {{"ops-shape", "Shape and index"},
     {"ops-products", "Products, convolutions and recurrent layers"},
     {"ops-elementwise", "Elementwise"},
     {"ops-reductions", "Reductions and pools"},
     {"ops-normalization", "Normalization"},
     {},
     {"ops-losses", "Losses"},
     {"ops-creation", "Creation, random numbers and order"}}};

void add_operations(std::vector<SitePage>& pages) {
  std::map<std::string, size_t> found;  // the page of each file
  for (const HelpEntry& entry : help_entries()) {
    if (entry.kind != HelpEntry::Kind::operation) continue;
    const Op& op = *find_signature(entry.name)->op;
    const std::string table = table_of(op);
    const FamilyPage& family = kFamilies[size_t(op.family)];
    const std::string file = table.empty() ? family.file : "lg." + table;
    const auto [place, first] = found.emplace(file, pages.size());
    if (first)
      pages.push_back(new_page(
          file, "Operations", table.empty() ? family.title : file,
          std::string("<p>Every op is a function of <code>lg</code>") +
              (table.empty() ? "; if its first argument is a tensor, it is also a method of Tensor" : "") +
              ". Arguments are given in this order, or by name in a table after them. Dims count "
              "from 1.</p>\n"));
    add_entry(pages[place->second], entry);
  }
}

std::string with_hyphens(std::string path) {
  std::replace(path.begin(), path.end(), ' ', '-');
  return path;
}

std::string text_of_command(const CommandText& command) {
  std::string text = command.about;
  for (const FlagText& flag : command.flags) text += "\n" + flag.about;
  return text;
}

// The sentence on a command and the table of its arguments and flags.
void add_usage(SitePage& page, const CommandText& command) {
  page.body += "<p>" + sentence_html(command.about) +
               "</p>\n<table>\n<thead><tr><th>argument</th><th>meaning</th></tr></thead>\n<tbody>\n";
  for (const FlagText& flag : command.flags) {
    std::string names;
    for (const std::string& name : flag.names) names += (names.empty() ? "" : ", ") + name;
    if (!flag.value.empty()) names += (names.empty() ? "" : " ") + flag.value;
    page.body += "<tr><td>" + code(names) + "</td><td>" + sentence_html(flag.about) + "</td></tr>\n";
  }
  page.body += "</tbody>\n</table>\n";
}

// `path`: the command with the program's name, "lunagrad runs".
void add_subcommands(SitePage& page, const CommandText& command, const std::string& path) {
  for (const CommandText& inner : command.commands) {
    const std::string whole = path + " " + inner.name;
    add_heading(page, whole, with_hyphens(whole), whole, text_of_command(inner));
    add_usage(page, inner);
    add_subcommands(page, inner, whole);
  }
}

SitePage command_page(const CommandText& command, const std::string& path) {
  SitePage page = new_page(with_hyphens(path), "Commands", path, "");
  page.entries[0].text = text_of_command(command);
  add_usage(page, command);
  return page;
}

void add_commands(std::vector<SitePage>& pages, const CommandText& program) {
  pages.push_back(command_page(program, program.name));
  for (const CommandText& command : program.commands) {
    const std::string path = program.name + " " + command.name;
    pages.push_back(command_page(command, path));
    add_subcommands(pages.back(), command, path);
  }
}

// PyTorch's names that have one row of the table.
struct NameRow {
  const PyTorchName* first;
  std::string names;  // as HTML
  int rank;           // the same names come first, then other forms, then missing names
};

void add_name_group(SitePage& page, const std::string& title, const std::vector<const PyTorchName*>& names) {
  std::vector<NameRow> rows;
  std::string text;
  size_t same = 0, missing = 0;
  for (const PyTorchName* name : names) {
    same += name->here == "same";
    missing += name->here == "missing";
    text += name->name + "\n";
    auto row = std::find_if(rows.begin(), rows.end(), [&](const NameRow& other) {
      return other.first->here == name->here && other.first->differs == name->differs;
    });
    if (row == rows.end())
      row = rows.insert(row, {name, "", name->here == "same" ? 0 : name->here == "missing" ? 2 : 1});
    else
      row->names += ", ";
    row->names += code(name->name);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const NameRow& a, const NameRow& b) { return a.rank < b.rank; });
  add_heading(page, title, title, "", text);
  page.body += "<p>Of " + std::to_string(names.size()) + " names " + std::to_string(same) +
               " are the same here, " + std::to_string(names.size() - same - missing) +
               " have another form, and " + std::to_string(missing) +
               " are missing.</p>\n<table>\n<thead><tr><th>PyTorch</th><th>Lunagrad</th><th>what "
               "differs</th></tr></thead>\n<tbody>\n";
  for (const NameRow& row : rows)
    page.body += "<tr><td>" + row.names + "</td><td>" + sentence_html(row.first->here) + "</td><td>" +
                 sentence_html(row.first->differs) + "</td></tr>\n";
  page.body += "</tbody>\n</table>\n";
}

SitePage pytorch_page() {
  SitePage page = new_page(
      "pytorch-names", "Reference", "Names of PyTorch",
      "<p>The public names of PyTorch 2.11. <em>same</em> means that <code>torch.x</code>, "
      "<code>torch.nn.x</code> and <code>Tensor.x</code> are <code>lg.x</code>, <code>lg.nn.x</code> and "
      "<code>x:x()</code>, with the differences that <a href=\"../pytorch.html\">From PyTorch</a> lists, "
      "such as dims that count from 1. <code>lunagrad help torch.NAME</code> looks a name up.</p>\n");
  const std::vector<PyTorchName> names = pytorch_names();
  std::map<std::string, std::vector<const PyTorchName*>> groups;
  for (const PyTorchName& name : names)
    groups[name.name.substr(0, name.name.find_last_of('.'))].push_back(&name);
  for (const auto& [title, group] : groups) add_name_group(page, title, group);
  return page;
}

}  // namespace

std::vector<SitePage> reference_pages(const CommandText& program) {
  std::vector<SitePage> pages{pytorch_page()};
  add_library(pages);
  add_operations(pages);
  add_commands(pages, program);
  return pages;
}

}  // namespace lunagrad
