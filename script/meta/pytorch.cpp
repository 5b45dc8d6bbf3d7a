#include "script/meta/pytorch.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "script/meta/explain.h"
#include "script/meta/library.h"

namespace lunagrad {
namespace {

// What is known about one of PyTorch's names.
struct Row {
  std::string here;     // "`lg.io.save`", "same" or "missing"
  std::string differs;  // what differs, or why the name is missing; "" if nothing differs
};

// A prefix of PyTorch's names and its replacement here. Longer prefixes come first.
struct Prefix {
  const char *torch, *here;
};
constexpr Prefix kPrefixes[] = {{"torch.Tensor.", "x:"},
                                {"torch.nn.Module.", "Module:"},
                                {"torch.optim.Optimizer.", "Optimizer:"},
                                {"torch.utils.data.", "lg.data."},
                                {"torch.", "lg."}};

// The usual short forms of PyTorch's prefixes.
constexpr std::array<std::pair<const char*, const char*>, 13> kShort = {
    {{"F.", "torch.nn.functional."},
     {"Module.", "torch.nn.Module."},
     {"Optimizer.", "torch.optim.Optimizer."},
     {"Tensor.", "torch.Tensor."},
     {"nn.", "torch.nn."},
     {"optim.", "torch.optim."},
     {"linalg.", "torch.linalg."},
     {"fft.", "torch.fft."},
     {"special.", "torch.special."},
     {"func.", "torch.func."},
     {"distributions.", "torch.distributions."},
     {"autograd.", "torch.autograd."},
     {"utils.data.", "torch.utils.data."}}};

// "F.relu" -> "torch.nn.functional.relu"
std::string in_full(const std::string& name) {
  for (const auto& [written, full] : kShort)
    if (name.starts_with(written)) return full + name.substr(std::string(written).size());
  return name;
}

// "torch.nn.functional.relu" -> "lg.nn.functional.relu"; "" for a name outside of torch.
std::string name_here(const std::string& full) {
  for (const auto& [torch, here] : kPrefixes)
    if (full.starts_with(torch)) return here + full.substr(std::string(torch).size());
  return {};
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '`') code = !code;
    if (line[i] == '|' && !code) {
      const size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

std::vector<std::string> codes_in(const std::string& cell) {
  std::vector<std::string> codes;
  for (size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
    const size_t end = cell.find('`', at + 1);
    if (end == std::string::npos) break;
    codes.push_back(cell.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return codes;
}

// Reads the tables of docs/pytorch.md.
void read_tables(std::map<std::string, Row>& found) {
  std::ifstream in(library_directory() + "/../docs/pytorch.md");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| ")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 3) continue;
    const std::vector<std::string> names = codes_in(cells[0]);
    for (size_t i = 0; i < names.size(); ++i) {
      std::string name = names[i].substr(0, names[i].find('('));
      // In "`transforms.Normalize`, `Compose`" the second name has the prefix of the first.
      if (name.find('.') == std::string::npos && i > 0)
        name = names[0].substr(0, names[0].find_last_of('.') + 1) + name;
      found.emplace(in_full(name), Row{cells[1], cells[2]});
    }
  }
}

// Whether the name fits the pattern, in which `*` stands for any text without a dot.
bool fits(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (size_t at = star;; ++at) {
    if (fits(name.substr(at), pattern.substr(star + 1))) return true;
    if (at >= name.size() || name[at] == '.') return false;
  }
}

// The notes of lua/pytorch/notes.txt.
struct Notes {
  std::map<std::string, Row> exact;
  std::vector<std::pair<std::string, Row>> patterns;
};
Notes read_notes() {
  Notes notes;
  std::ifstream in(library_directory() + "/pytorch/notes.txt");
  bool differs = false;  // the lines of this part have a cell for the form here
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("[")) differs = line.starts_with("[differs]");
    const size_t first = line.find(" | ");
    if (line.starts_with("[") || line.starts_with("#") || first == std::string::npos) continue;
    const size_t second = differs ? line.find(" | ", first + 3) : first;
    const std::string here = differs ? line.substr(first + 3, second - first - 3) : "missing";
    const Row row{here, second == std::string::npos ? "" : line.substr(second + 3)};
    std::istringstream names(line.substr(0, first));
    for (std::string name; names >> name;)
      if (name.find('*') == std::string::npos)
        notes.exact.emplace(name, row);
      else
        notes.patterns.emplace_back(name, row);
  }
  return notes;
}

// The rows by PyTorch's full name.
const std::map<std::string, Row>& rows() {
  static const std::map<std::string, Row> all = [] {
    std::map<std::string, Row> found;
    for (const PyTorchName& known : pytorch_names())
      found.emplace(known.name, Row{known.here, known.differs});
    read_tables(found);
    return found;
  }();
  return all;
}

std::string without_ticks(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (c != '`') plain += c;
  return plain;
}

}  // namespace

std::vector<PyTorchName> pytorch_names() {
  const Notes notes = read_notes();
  std::vector<PyTorchName> names;
  std::ifstream in(library_directory() + "/pytorch/names.txt");
  for (std::string name; std::getline(in, name);) {
    const auto exact = notes.exact.find(name);
    const Row* row = exact == notes.exact.end() ? nullptr : &exact->second;
    for (const auto& [pattern, of_pattern] : notes.patterns)
      if (!row && fits(name, pattern)) row = &of_pattern;
    names.push_back({name, row ? row->here : "same", row ? row->differs : ""});
  }
  return names;
}

std::string explain_pytorch(const std::string& name) {
  const std::string full = in_full(name);
  const auto found = rows().find(full);
  if (found == rows().end()) return {};
  const Row& row = found->second;
  std::string text = name + ": ", ours;
  if (row.here == "missing") {
    text += "there is no such function here";
  } else if (row.here == "same") {
    ours = name_here(full);
    text += ours;
  } else {
    // A row for several PyTorch names lists our names for them: take the name that equals this one, if there
    // is one.
    const std::vector<std::string> names = codes_in(row.here);
    const auto own = std::find(names.begin(), names.end(), name_here(full));
    if (own != names.end())
      ours = *own;
    else if (names.size() == 1)
      ours = names[0];
    text += own != names.end() ? ours : without_ticks(row.here);
  }
  if (!row.differs.empty()) text += "; " + without_ticks(row.differs);
  text += "\n";
  // Our own help on the function, if there is exactly one.
  if (!ours.empty()) text += explain(ours.substr(0, ours.find_first_of("({")));
  return text;
}

std::string pytorch_instead(const std::string& missing) {
  for (const auto& [torch, here] : kPrefixes) {
    const std::string prefix = here;
    if (!missing.starts_with(prefix)) continue;
    const std::string full = torch + missing.substr(prefix.size());
    const auto found = rows().find(full);
    if (found == rows().end() || found->second.here == "same") continue;
    const Row& row = found->second;
    const std::string why = without_ticks(row.differs);
    if (row.here == "missing")
      return "PyTorch's " + full + " is not offered" + (why.empty() ? "" : ": " + why);
    return "PyTorch's " + full + " is " + without_ticks(row.here) + (why.empty() ? "" : " (" + why + ")");
  }
  return {};
}

}  // namespace lunagrad
