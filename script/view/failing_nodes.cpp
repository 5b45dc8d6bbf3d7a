#include "script/view/failing_nodes.h"

#include <cctype>

namespace lunagrad {

std::vector<int> failing_nodes(const TapeSnapshot& tape, const std::string& message,
                               const SourcePlace& place) {
  const auto named = [&](const SourcePlace& at) {
    if (at.line <= 0) return false;
    if (at.line == place.line && at.file == place.file) return true;
    const std::string words = at.file + ':' + std::to_string(at.line);
    const size_t found = message.find(words);
    return found != message.npos &&
           !(found + words.size() < message.size() &&
             std::isdigit(static_cast<unsigned char>(message[found + words.size()])));
  };
  std::vector<int> there, of_op;
  for (size_t i = 0; i < tape.nodes.size(); ++i) {
    const NodeInfo& node = tape.nodes[i];
    if (node.op == "leaf" || !named(node.place)) continue;
    there.push_back(int(i));
    // The message names the op as in "train.lua:12: matmul: …" or "backward of mul (…)".
    for (const std::string& words : {' ' + node.op + ':', "of " + node.op + ' '})
      if (message.find(words) != message.npos && (of_op.empty() || of_op.back() != int(i)))
        of_op.push_back(int(i));
  }
  return of_op.empty() ? there : of_op;
}

}  // namespace lunagrad
