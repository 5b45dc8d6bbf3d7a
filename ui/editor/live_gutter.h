#pragma once
// The costs of the visible text's lines according to the tape, also when the text was edited since the run
// began, and the present line of a place in the run. Works once per snapshot and change of the text, not per
// frame. Drawing thread only.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/editor/documents.h"
#include "ui/editor/line_costs.h"

namespace lunagrad {

// A column of costs, and whether the user wants it.
struct CostColumn {
  const char *heading, *help;
  bool shown;
  std::string (*text)(const LineCost&);
};

class LiveGutter {
 public:
  // True: the snapshot has changed since the last call.
  bool update(const TapeSnapshot*, const Document&);

  const LineCost* cost(int line) const;  // of a line of the present text, from 0; null for none
  // Line `line` (from 1) of the text that runs, as a line from 0 of the present text; -1 if it is gone.
  int line_now(int line) const;
  bool live() const { return shown_ != nullptr; }  // the tape has lines of this text
  float heat(int line) const;                      // its time relative to the slowest line
  std::vector<CostColumn>& columns() { return columns_; }
  bool offers(const CostColumn&) const;  // false for a column without known values
  std::string sentence(int line) const;  // the line's costs in words; "" if it has none

  static bool belongs(const Document&, const std::string& file);  // as the tape names it

 private:
  void match(const Document&);

  std::vector<CostColumn> columns_ = default_columns();
  static std::vector<CostColumn> default_columns();
  LineCosts costs_;
  const TapeSnapshot* tape_ = nullptr;
  uint64_t newest_ = 0;  // id of its first node, since a new snapshot may have the same address
  const std::map<int, LineCost>* shown_ = nullptr;  // of the visible text
  std::vector<int> before_;                         // for each of its lines the one that runs
  int document_ = 0;
  uint64_t revision_ = 0;
  const std::string* run_lines_ = nullptr;
};

}  // namespace lunagrad
