#pragma once
// Help on everything a script can call, for viewers: the ops from their records, what lg offers beside them
// from the annotations for editors (lua/meta, and the optimizers' files in lua/lunagrad/optim), and the
// sections of the documents. No Lua; any thread.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct HelpEntry {
  enum class Kind { operation, function, section } kind = Kind::operation;
  std::string name;  // "softmax", "lg.nn.Linear", "training"
  std::string call;  // "lg.nn.Linear(in_features, out_features, options)"; a section's document
  std::string text;  // sentences and a line for each argument
};

// All of them, read once.
const std::vector<HelpEntry>& help_entries();
// Those that hold all words of `query`, case aside: those whose names do come first. All for an empty query.
std::vector<const HelpEntry*> search_help(std::string_view query);
// The functions that one file of annotations describes.
std::vector<HelpEntry> read_annotations(std::string_view file);

}  // namespace lunagrad
