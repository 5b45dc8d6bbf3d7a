#include "ui/panels/node_commands.h"

#include <cctype>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/op_name.h"

namespace lunagrad {
namespace {

constexpr size_t kMostFoundNodes = 100;

// A command that shows the panel and acts on the selected node.
void add_node_command(Workbench& bench, const char* panel, std::string name, const std::string& help,
                      std::function<void(const NodeInfo&)> run,
                      std::function<bool(const NodeInfo&)> possible = {}) {
  bench.commands().add_composed({std::move(name), "", help,
                                 [&bench, panel, run = std::move(run)] {
                                   bench.shell().show_panel(panel);
                                   run(*bench.tape().selected_node());
                                 },
                                 [&bench, possible = std::move(possible)] {
                                   const NodeInfo* const node = bench.tape().selected_node();
                                   return node && (!possible || possible(*node));
                                 }});
}

// Of the nodes with one name, the first in the order of execution.
void find_nodes(Workbench& bench, const char* panel, std::string_view typed, std::vector<Command>& found) {
  const TapeSnapshot* const tape = bench.tape().tape();
  const auto texts = bench.tape().texts();
  if (!tape || !texts || texts->size() != tape->nodes.size()) return;
  const std::string words(typed);
  std::set<std::string> names;
  for (size_t i = tape->nodes.size(); i-- > 0 && names.size() < kMostFoundNodes;) {
    if (!contains_words((*texts)[i], words)) continue;
    const NodeInfo& node = tape->nodes[i];
    const std::string name = node_name(node);
    if (!names.insert(name).second) continue;
    const std::string place = file_and_line(node.place);
    Command command{
        "Node: " + name, "",
        "Selects it in the tape: " + public_op_name(node.op) + (place.empty() ? "" : ", " + place),
        [&bench, panel, id = node.id, structure = bench.tape().structure(), at = int(i)] {
          bench.shell().show_panel(panel);
          // Another step has other nodes, at the same positions as long as the structure is the
          // same.
          const int now = bench.tape().find_node(id);
          if (now >= 0)
            bench.tape_actions().select(now);
          else if (bench.tape().structure() == structure)
            bench.tape_actions().select(at);
        }};
    command.synonyms = node_words(node);
    found.push_back(std::move(command));
  }
}

}  // namespace

void add_node_commands(Workbench& bench, const char* panel, ChangeMenu& changes) {
  const std::string selected = " Of the node that is selected in the tape.";
  add_node_command(
      bench, panel, "Node: go to its line", "The line that made it." + selected,
      [&bench](const NodeInfo& node) { bench.texts().go_to(node.place); },
      [](const NodeInfo& node) { return node.place.line > 0; });
  add_node_command(bench, panel, "Node: copy its name", "Copies the name." + selected,
                   [](const NodeInfo& node) { ImGui::SetClipboardText(node_name(node).c_str()); });
  add_node_command(bench, panel, "Node: outline its inputs", "Highlights the nodes that it reads." + selected,
                   [&bench](const NodeInfo&) { outline_inputs(bench, bench.tape().selected()); });
  for (const ChangeItem& item : change_items()) {
    std::string label = item.label;
    label[0] = char(std::tolower(static_cast<unsigned char>(label[0])));
    add_node_command(
        bench, panel, "Model: " + label,
        item.help + std::string(" The module or parameter of the selected node."),
        [&bench, &changes, &item](const NodeInfo& node) {
          changes.begin(bench, item.kind, changed_path(node));
        },
        [&item](const NodeInfo& node) {
          return !changed_path(node).empty() && (item.of_tensors || node.op != "leaf");
        });
  }
  bench.commands().add_source([&bench, panel](std::string_view typed, std::vector<Command>& found) {
    find_nodes(bench, panel, typed, found);
  });
}

std::string node_name(const NodeInfo& node) {
  if (node.op == "leaf") return node.outputs.empty() ? node.op : node.outputs[0].name;
  const std::string op = public_op_name(node.op);
  return node.module.empty() ? op : node.module + "." + op;
}

std::string changed_path(const NodeInfo& node) {
  if (node.op != "leaf") return node.module;
  return node.outputs.empty() ? "" : node.outputs[0].name;
}

void outline_inputs(Workbench& bench, int node) {
  const auto& operands = bench.tape().tree()->operands[size_t(node)];
  bench.tape_actions().light({operands.begin(), operands.end()});
  for (const uint32_t operand : operands) bench.tape_actions().open_around(int(operand));
}

}  // namespace lunagrad
