#pragma once
// Reads recorded tapes: a file with the JSON of lg.tape(x):json() or of the window, and the tape.jsonl of a
// run's folder. Errors are of kind file and name what is damaged. No Lua; each object belongs to one thread.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "script/tape_diff/graph.h"

namespace lunagrad {

TapeGraph read_tape_file(const std::string& path);
// The content of such a file; `title` names it in errors.
TapeGraph read_tape_text(const std::string& content, const std::string& title);

// The tapes that a run's folder holds.
class RunTapes {
 public:
  explicit RunTapes(std::string folder);
  const std::string& folder() const { return folder_; }
  std::vector<int64_t> steps() const;  // of the kept tapes, upwards; at least one
  std::string steps_text() const;      // "1, 10, 25"
  bool keeps(int64_t step) const { return kept_.count(step) > 0; }
  TapeGraph tape(int64_t step) const;  // of a kept step
  // "skipped 2 damaged records of runs/a/tape.jsonl"; "" when all could be read
  std::string damage() const;
  // Of a step of the run that was repeated: its line, as tape.jsonl would have it.
  TapeGraph repeated_tape(int64_t step, const std::string& line) const;

 private:
  using Json = nlohmann::json;
  bool read_line(const std::string& line, const std::string& where);  // false: it is damaged
  void add_script(TapeGraph&) const;

  struct Kept {
    std::string where;  // "runs/a/tape.jsonl:3"
    Json line;          // with its nodes, even if the file has them at an earlier step
  };
  TapeGraph graph_of(int64_t step, const Kept&) const;
  std::string folder_;
  std::map<int64_t, Kept> kept_;
  int64_t damaged_ = 0;
};

}  // namespace lunagrad
