#pragma once
// Marks of the user's key in what a run writes into its folder, and the question whose a run's folder is.
// Marked are config.json with the texts of the scripts, the rows of metrics.jsonl that decide what runs
// (lines of the console, reloads, resumes, parameters, modules) in their order, and each line of files.jsonl.
// All are bound to the run by its id. Numbers, images, tapes, checkpoints and keyframes are data, and have no
// marks. RunMarks belongs to the thread that writes the folder; origin_of_run() may be called from any.
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "script/trust/notary.h"

namespace lunagrad {

// Whose a run is.
struct RunOrigin {
  bool own = false;
  std::string why;  // it is not the user's own, a clause
  // The SHA-256 of what would run; "" when it cannot be read as a whole.
  std::string content;
  std::string run_id, last_mark;  // of an own run: its id, and the mark of its last row that decides
  std::map<std::string, std::string> texts;  // and its scripts with their SHA-256
};
RunOrigin origin_of_run(const std::string& folder);
// Whether a line of files.jsonl was written by the own run of that id.
bool is_marked_file(const std::string& run_id, std::string_view line);

class RunMarks {
 public:
  // Of a new run, or with `go_on` of one that is there: its marks go on if it is the user's own.
  RunMarks(const std::string& folder, bool go_on);

  bool are_made() const { return notary_ != nullptr; }
  // A script's copy in the folder, for config.json.
  void know_text(const std::string& name, std::string_view text);
  void mark_config(nlohmann::ordered_json& config) const;
  // A row of metrics.jsonl that decides; the rows are written in the order of the calls.
  std::string mark_row(std::string row);
  std::string mark_file(std::string line) const;

 private:
  std::shared_ptr<const Notary> notary_;  // null: nothing is marked
  std::string run_id_, last_mark_;
  std::map<std::string, std::string> texts_;
};

}  // namespace lunagrad
