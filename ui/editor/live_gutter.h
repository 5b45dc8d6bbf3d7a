#pragma once
// Maps the costs on the tape to the lines of the visible text, also when the text was edited after the run
// began, and maps a place in the run to its present line. Works once per snapshot and change of the text, not
// per frame. Drawing thread only.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/editor/documents.h"
#include "ui/editor/line_costs.h"
#include "ui/text/source_text.h"

namespace lunagrad {

// A column of costs, and whether the user shows it.
struct CostColumn {
  const char *heading, *help;
  bool shown;
  std::string (*text)(const LineCost&);
};

class LiveGutter {
 public:
  // Returns true when the snapshot has changed since the last call. `ran`: the text that the snapshot's step
  // ran; null: the document's run_lines.
  bool update(const TapeSnapshot*, const Document&, const SourceTextPtr& ran = nullptr);

  const LineCost* cost(int line) const;  // cost of a line of the present text, from 0; null for none
  // The line of the present text (from 0) for line `line` (from 1) of the running text; -1 if it was removed.
  int line_now(int line) const;
  // The same for a line of another text.
  static int line_now(const SourceText& ran, int line, const Document&);
  bool live() const { return shown_ != nullptr; }  // the tape has lines of this text
  float heat(int line) const;                      // the line's time relative to the slowest line
  std::vector<CostColumn>& columns() { return columns_; }
  bool offers(const CostColumn&) const;  // false for a column that has no known values
  std::string sentence(int line) const;  // the line's costs in words; "" if it has none

  static bool belongs(const Document&, const std::string& file);  // `file` is named as on the tape

 private:
  void match(const Document&, const SourceTextPtr& ran);

  std::vector<CostColumn> columns_ = default_columns();
  static std::vector<CostColumn> default_columns();
  LineCosts costs_;
  const TapeSnapshot* tape_ = nullptr;
  uint64_t newest_ = 0;  // id of the snapshot's first node, since a new snapshot may have the same address
  const std::map<int, LineCost>* shown_ = nullptr;  // costs of the visible text
  std::vector<int> before_;                         // for each visible line the line in the running text
  int document_ = 0;
  uint64_t revision_ = 0;
  const std::string* run_lines_ = nullptr;
  SourceTextPtr ran_;
};

}  // namespace lunagrad
