#pragma once
// Commands for nodes of the tape: what the menu of the selected node offers, and one command for each node
// that the typed words find. Drawing thread only.
#include <string>

#include "ui/panels/change_menu.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// `panel`: the title of the panel that shows the tape and the menu. Call once.
void add_node_commands(Workbench&, const char* panel, ChangeMenu&);

// The leaf's own name, otherwise the module's with the op.
std::string node_name(const NodeInfo&);
// The module or the parameter that the node's menu changes; "" for none.
std::string changed_path(const NodeInfo&);
void outline_inputs(Workbench&, int node);  // the nodes that it reads, opening the modules around them

}  // namespace lunagrad
