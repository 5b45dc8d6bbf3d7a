#pragma once
// All help texts, for viewers: ops from their records, library functions from the annotations for editors
// (lua/meta, and the optimizers' files in lua/lunagrad/optim), and the sections of the documents. No Lua; any
// thread.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct HelpEntry {
  enum class Kind { operation, function, section } kind = Kind::operation;
  std::string name;  // "softmax", "lg.nn.Linear", "training"
  // "lg.nn.Linear(in_features, out_features, options)"; of a section: the name of its document
  std::string call;
  std::string text;  // sentences, then a line for each argument and result, indented by two spaces
};

// All entries. Read from disk once.
const std::vector<HelpEntry>& help_entries();
// The entries that contain all words of `query`, ignoring case; matches in the name come first. All entries
// for an empty query.
std::vector<const HelpEntry*> search_help(std::string_view query);
// The functions that the text of one annotation file describes.
std::vector<HelpEntry> read_annotations(std::string_view file);

}  // namespace lunagrad
