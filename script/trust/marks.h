#pragma once
// Marks of the user's key in the files of a run's folder, and the check whose run a folder is. Marked are
// config.json with the texts of the scripts; the rows of metrics.jsonl that decide what runs (lines of the
// console, reloads, resumes, parameters, modules), in their order; and each line of files.jsonl. All are
// bound to the run by its id. Numbers, images, tapes, checkpoints and keyframes are data, and have no marks.
// RunMarks belongs to the thread that writes the folder; origin_of_run() may be called from any thread.
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "script/trust/trust_key.h"

namespace lunagrad {

// The owner of a run.
struct RunOrigin {
  bool own = false;
  std::string why;  // why it is not the user's own run, a clause
  // The SHA-256 of everything that would run; "" when not all of it can be read.
  std::string content;
  std::string run_id, last_mark;             // of an own run: its id, and the mark of its last deciding row
  std::map<std::string, std::string> texts;  // of an own run: the SHA-256 of its scripts, by name
};
RunOrigin origin_of_run(const std::string& folder);
// Whether a line of files.jsonl was written by the user's own run with that id.
bool is_marked_file(const std::string& run_id, std::string_view line);

class RunMarks {
 public:
  // For a new run, or with `go_on` for an existing run, whose marks are continued if it is the user's own.
  RunMarks(const std::string& folder, bool go_on);

  bool are_made() const { return trust_key_ != nullptr; }
  // Adds the text of a script's copy in the folder; mark_config() marks it.
  void know_text(const std::string& name, std::string_view text);
  void mark_config(nlohmann::ordered_json& config) const;
  // Marks a row of metrics.jsonl that decides what runs. The rows must be written in the order of the calls.
  std::string mark_row(std::string row);
  std::string mark_file(std::string line) const;

 private:
  std::shared_ptr<const TrustKey> trust_key_;  // null: nothing is marked
  std::string run_id_, last_mark_;
  std::map<std::string, std::string> texts_;
};

}  // namespace lunagrad
