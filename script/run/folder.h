#pragma once
// The folder of a run: config.json, a copy of the script, metrics.jsonl (append-only, one write per line, so
// that only the last line can be incomplete), tape.jsonl (the tapes of a few steps, one per line),
// files.jsonl (the files that the script read) and log.txt.
// Belongs to the session's thread. A failed write (disk full) is reported once per file and does not end the
// run; the run's exit code tells it at the end. An incomplete line of a .jsonl file is removed again.
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/system/open_file.h"
#include "script/trust/marks.h"

namespace lunagrad {

enum class Sync;  // runtime/io/atomic_file.h

// The beginning of a name, of at most `longest` bytes, cut between characters. Bytes that are not printable
// UTF-8 become '_'.
std::string plain_name(std::string_view name, size_t longest);
// runs/<UTC time>-<script's stem>-<six hex digits>, with the stem's plain_name.
std::string default_run_directory(const std::string& script);
// The name, or the first of name-2, name-3, … that holds no run.
std::string unused_run_directory(const std::string& wanted);

// The checkpoints in a run's folder by their steps.
std::map<int64_t, std::string> checkpoints_in(const std::string& folder);
// The checkpoint with the highest step, without checkpoints that a resume or reload made invalid; "" when
// there is none.
std::string latest_checkpoint(const std::string& folder);
// The earlier valid checkpoints in the folder of a checkpoint, the newest first; none when the folder is not
// a run's.
std::vector<std::string> checkpoints_before(const std::string& path);
// The run folder that contains a checkpoint; "" when there is none.
std::string folder_of_checkpoint(const std::string& path);

class RunFolder {
 public:
  // Creates the folder, or with `go_on` opens the existing folder. Error of kind file if that fails, if the
  // folder holds a run and `go_on` is not set, if another process is writing to it, or if an entry that would
  // be written is a link out of the folder, a pipe, a socket or a device.
  RunFolder(std::string path, bool go_on, std::function<void(const std::string&)> warn);

  const std::string& path() const { return path_; }
  // Notes that a file of the folder, or a part of it, could not be written. Warns at the first call for
  // `name`, unless `why` is "".
  void lose(const std::string& name, const std::string& why);
  void regain(const std::string& name);  // the file was written completely after all
  // The names of files that could not be written, in the order of their failures.
  const std::vector<std::string>& lost() const { return lost_; }

  void write_config(nlohmann::ordered_json config, bool last);  // with the owner's mark
  void write_script(const char* name, std::string_view source);
  // Copies the text of a module to modules/, under a name that follows from the text, and returns that name.
  std::string write_module(const std::string& file, std::string_view text);
  void append_metrics(std::string line);  // `line` without its newline
  void append_decision(std::string row);  // append_metrics for a row that decides what a replay runs
  void append_log(std::string_view text);
  void append_tape(std::string line);               // to tape.jsonl, `line` without its newline
  void append_file(std::string line);               // to files.jsonl, `line` without its newline
  std::string checkpoint_path(int64_t step) const;  // creates the checkpoints folder
  // "images/<name>-<step>.png" within path(). Characters that file names should not hold are escaped, such as
  // %2f; the end of a long name is replaced by its hash. Makes images/.
  std::string image_name(std::string_view name, int64_t step) const;

 private:
  struct LateFile {  // a file that exists only if something was written to it
    OpenFile file;
    bool begun = false;
  };
  void write(const std::string& name, std::string_view content, Sync);
  void append(OpenFile& file, const char* name, std::string_view text);
  void append(LateFile&, const char* name, std::string line);

  std::string path_;
  RunMarks marks_;
  std::function<void(const std::string&)> warn_;
  std::vector<std::string> lost_;
  OpenFile metrics_, log_;
  LateFile tape_, files_;
};

}  // namespace lunagrad
