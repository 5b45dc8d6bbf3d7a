#pragma once
// The folder in which a run leaves its traces: config.json, a copy of the script, metrics.jsonl (append only,
// one write a line, so that a reader meets at most a torn last line) and log.txt. Belongs to the session's
// thread. A failed write (disk full) is reported once for each file and does not end the run; of
// metrics.jsonl a torn line is cut off again.
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace lunagrad {

// runs/<UTC time>-<script's stem>-<six hex digits>
std::string default_run_directory(const std::string& script);
// The name, or the first of name-2, name-3, … that holds no run.
std::string unused_run_directory(const std::string& wanted);
// Writes to a temporary name, then renames: nothing partial ever lies under `path`. Error of kind file.
void write_file_atomically(const std::string& path, std::string_view content);

// The newest checkpoint in a run's folder, "" when it has none.
std::string latest_checkpoint(const std::string& folder);
// The run's folder in which a checkpoint lies, "" when it lies in none.
std::string folder_of_checkpoint(const std::string& path);

class RunFolder {
 public:
  // Makes the folder, or with `go_on` takes the one that is there. Error of kind file when it cannot, when it
  // holds a run that is not to go on, or when another process is writing to it.
  RunFolder(std::string path, bool go_on, std::function<void(const std::string&)> warn);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  void write_config(std::string_view json);
  void write_script(const char* name, std::string_view source);
  void append_metrics(std::string line);  // without its newline
  void append_log(std::string_view text);
  std::string checkpoint_path(int64_t step) const;  // makes the folder that it lies in
  // "images/<name>-<step>.png" within path(), with %2f and the like for what a file's name should not hold.
  // Makes images/.
  std::string image_name(std::string_view name, int64_t step) const;

 private:
  void append(int& file, const char* name, std::string_view text);
  bool drop_torn_line();

  std::string path_;
  std::function<void(const std::string&)> warn_;
  int metrics_ = -1;
  int log_ = -1;
};

}  // namespace lunagrad
