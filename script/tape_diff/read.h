#pragma once
// Reads recorded tapes: a file with the JSON of lg.tape(x):json() or of the window, and the tape.jsonl of a
// run's folder. Errors are of kind file and name the damaged part. No Lua; each object belongs to one thread.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/io/json_text.h"
#include "script/tape_diff/graph.h"

namespace lunagrad {

TapeGraph read_tape_file(const std::string& path);
// Reads the text of a tape file; `title` names the file in errors.
TapeGraph read_tape_text(const std::string& content, const std::string& title);

// The tapes that a run's folder holds.
class RunTapes {
 public:
  explicit RunTapes(std::string folder);
  const std::string& folder() const { return folder_; }
  std::vector<int64_t> steps() const;  // steps of the kept tapes, ascending; at least one
  std::string steps_text() const;      // "1, 10, 25"
  bool keeps(int64_t step) const { return kept_.count(step) > 0; }
  TapeGraph tape(int64_t step) const;  // the tape of a kept step
  // "skipped 2 damaged records of runs/a/tape.jsonl"; "" when all could be read
  std::string damage() const;
  // The tape of a replayed step, from its line in the form of tape.jsonl.
  TapeGraph repeated_tape(int64_t step, const std::string& line) const;

 private:
  bool read_line(const std::string& line, const std::string& where);  // false if the line is damaged
  void add_script(TapeGraph&) const;

  struct Kept {
    std::string where;  // "runs/a/tape.jsonl:3"
    SortedJson line;    // with its nodes, even if the file only refers to an earlier step's nodes
  };
  TapeGraph graph_of(int64_t step, const Kept&) const;
  std::string folder_;
  std::map<int64_t, Kept> kept_;
  int64_t damaged_ = 0;
};

}  // namespace lunagrad
