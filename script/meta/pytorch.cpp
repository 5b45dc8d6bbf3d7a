#include "script/meta/pytorch.h"

#include <array>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "script/meta/library.h"

namespace lunagrad {
namespace {

// A row of a table in docs/pytorch.md, as it concerns one name.
struct Row {
  std::string here;     // "`lg.io.save`", "same" or "missing"
  std::string differs;  // what differs, "" for nothing
};

// PyTorch's prefixes, as the document writes them and in full, and ours. Longer ones come first.
struct Prefix {
  const char *full, *written, *here;
};
constexpr std::array<Prefix, 11> kPrefixes = {{{"torch.nn.functional.", "F.", "lg.nn.functional."},
                                               {"nn.functional.", "F.", "lg.nn.functional."},
                                               {"torch.nn.", "nn.", "lg.nn."},
                                               {"torch.Tensor.", "Tensor.", "x:"},
                                               {"torch.optim.", "torch.optim.", "lg.optim."},
                                               {"optim.", "torch.optim.", "lg.optim."},
                                               {"torch.utils.data.", "torch.utils.data.", "lg.data."},
                                               {"F.", "F.", "lg.nn.functional."},
                                               {"nn.", "nn.", "lg.nn."},
                                               {"Tensor.", "Tensor.", "x:"},
                                               {"torch.", "torch.", "lg."}}};

const Prefix* prefix_of(const std::string& name) {
  for (const Prefix& prefix : kPrefixes)
    if (name.starts_with(prefix.full)) return &prefix;
  return nullptr;
}

std::string rest_of(const std::string& name, const Prefix& prefix) {
  return name.substr(std::string(prefix.full).size());
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

// Names of PyTorch as the document writes them.
const std::map<std::string, Row>& rows() {
  static const std::map<std::string, Row> all = [] {
    std::map<std::string, Row> found;
    std::ifstream in(library_directory() + "/../docs/pytorch.md");
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("| ")) continue;
      const std::vector<std::string> cells = cells_of(line);
      if (cells.size() < 3) continue;
      const std::vector<std::string> names = codes_in(cells[0]), ours = codes_in(cells[1]);
      for (size_t i = 0; i < names.size(); ++i) {
        std::string name = names[i].substr(0, names[i].find('('));
        // "`torch.save`, `torch.load`" beside "`lg.io.save`, `lg.io.load`": each has its own.
        const bool paired = names.size() > 1 && ours.size() == names.size();
        // In "`Module.train`, `eval`" the second name has the prefix of the first.
        if (name.find('.') == std::string::npos && i > 0)
          name = names[0].substr(0, names[0].find_last_of('.') + 1) + name;
        found.emplace(std::move(name), Row{paired ? "`" + ours[i] + "`" : cells[1], cells[2]});
      }
    }
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

const Row* find_row(const std::string& name) {
  const Prefix* const prefix = prefix_of(name);
  const auto found = rows().find(prefix ? prefix->written + rest_of(name, *prefix) : name);
  return found == rows().end() ? nullptr : &found->second;
}

}  // namespace

std::string explain_pytorch(const std::string& name) {
  const Row* const row = find_row(name);
  if (!row) return {};
  const Prefix* const prefix = prefix_of(name);
  std::string text = name + ": ";
  if (row->here == "missing") {
    text += "there is no such function here";
  } else if (row->here == "same" && prefix) {
    text += prefix->here + rest_of(name, *prefix);
  } else {
    text += without_ticks(row->here);
  }
  if (!row->differs.empty()) text += "; " + without_ticks(row->differs);
  return text + "\n";
}

std::string pytorch_instead(const std::string& missing) {
  for (const Prefix& prefix : kPrefixes) {
    const std::string here = prefix.here;
    if (!missing.starts_with(here) || missing.find_first_of(".:", here.size()) != std::string::npos) continue;
    const std::string name = std::string(prefix.written) + missing.substr(here.size());
    const auto found = rows().find(name);
    if (found == rows().end() || found->second.here == "same") continue;
    if (found->second.here == "missing") return "PyTorch's " + name + " is not offered";
    return "PyTorch's " + name + " is " + without_ticks(found->second.here) +
           (found->second.differs.empty() ? "" : " (" + without_ticks(found->second.differs) + ")");
  }
  return {};
}

}  // namespace lunagrad
