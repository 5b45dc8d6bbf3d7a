#pragma once
// The folder of a run: config.json, a copy of the script, metrics.jsonl (append-only, one write per line, so
// that only the last line can be incomplete), tape.jsonl (the tapes of a few steps, one a line), files.jsonl
// (the files that the script read) and log.txt.
// Belongs to the session's thread. A failed write (disk full) is reported once per file and does not end the
// run, whose exit code says it in the end; an incomplete line of a .jsonl is removed again.
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "script/trust/marks.h"

namespace lunagrad {

enum class Sync;  // runtime/io/atomic_file.h

// The beginning of a name, of at most so many bytes, cut between characters; what is no printable UTF-8 in it
// becomes '_'.
std::string plain_name(std::string_view name, size_t longest);
// runs/<UTC time>-<script's stem>-<six hex digits>; of the stem the plain_name.
std::string default_run_directory(const std::string& script);
// The name, or the first of name-2, name-3, … that holds no run.
std::string unused_run_directory(const std::string& wanted);

// The checkpoints in a run's folder by their steps.
std::map<int64_t, std::string> checkpoints_in(const std::string& folder);
// The newest checkpoint, "" when there is none: it has the highest step of the checkpoints that no resume or
// reload left behind.
std::string latest_checkpoint(const std::string& folder);
// The earlier checkpoints in the folder of a checkpoint, the newest first, without checkpoints that a resume
// or reload left behind; none when the folder is not a run's.
std::vector<std::string> checkpoints_before(const std::string& path);
// The run folder that contains a checkpoint, "" when there is none.
std::string folder_of_checkpoint(const std::string& path);

class RunFolder {
 public:
  // Creates the folder, or with `go_on` opens the existing one. Error of kind file if that fails, if the
  // folder holds a run that is not to be continued, if another process is writing to it, or if a file of it
  // that would be written is a link out of it, or none.
  RunFolder(std::string path, bool go_on, std::function<void(const std::string&)> warn);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  // A file of the folder, or a part of it, could not be written. Warns at the first time; "": no warning.
  void lose(const std::string& name, const std::string& why);
  void regain(const std::string& name);  // it is there as a whole after all
  // The names of what could not be written, in the order in which it was lost.
  const std::vector<std::string>& lost() const { return lost_; }

  void write_config(nlohmann::ordered_json config, bool last);  // with its mark
  void write_script(const char* name, std::string_view source);
  // Copies the text of a module to modules/, under a name that follows from the text, and returns that name.
  std::string write_module(const std::string& file, std::string_view text);
  void append_metrics(std::string line);  // without its newline
  void append_decision(std::string row);  // the same for a row that decides what a replay runs
  void append_log(std::string_view text);
  void append_tape(std::string line);               // of tape.jsonl, without its newline
  void append_file(std::string line);               // of files.jsonl, the same
  std::string checkpoint_path(int64_t step) const;  // creates its folder
  // "images/<name>-<step>.png" within path(), with characters that a file name should not hold escaped, such
  // as %2f, and the end of a long name replaced by its hash. Makes images/.
  std::string image_name(std::string_view name, int64_t step) const;

 private:
  struct LateFile {  // that exists only in runs that have something for it
    int descriptor = -1;
    bool begun = false;
  };
  void write(const std::string& name, std::string_view content, Sync);
  void append(int& file, const char* name, std::string_view text);
  void append(LateFile&, const char* name, std::string line);

  std::string path_;
  RunMarks marks_;
  std::function<void(const std::string&)> warn_;
  std::vector<std::string> lost_;
  int metrics_ = -1;
  int log_ = -1;
  LateFile tape_, files_;
};

}  // namespace lunagrad
