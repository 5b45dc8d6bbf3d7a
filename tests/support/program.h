#pragma once
// Runs a program as a user does: with its own standard streams, or on a pseudo terminal, and returns its
// output.
#include <string>
#include <vector>

namespace lunagrad::test {

struct Finished {
  int code = -1;  // exit code, 128 + n for death by signal n
  std::string out, err;
};

class Program {
 public:
  // argv[0] is looked up as execvp does. env: NAME=VALUE to add.
  explicit Program(const std::vector<std::string>& argv, const std::string& input = "",
                   const std::vector<std::string>& env = {}, const std::string& directory = "");
  ~Program();
  Program(const Program&) = delete;

  bool wrote(const std::string& text);  // waits for it, on either stream; false after tests::kHangSeconds
  void signal(int number);              // and waits until the program has taken it
  bool running() const;                 // it has not ended yet
  Finished finish();
  std::string out() const;
  std::string err() const;

 private:
  std::string folder_;
  int pid_ = -1;
};

// The same on a pseudo terminal of 80 columns, where both streams are one.
class TerminalProgram {
 public:
  explicit TerminalProgram(const std::vector<std::string>& argv, const std::vector<std::string>& env = {});
  ~TerminalProgram();
  TerminalProgram(const TerminalProgram&) = delete;

  void type(const std::string& keys);
  bool wrote(const std::string& text);  // in what came since the last call; false after tests::kHangSeconds
  bool works(double seconds);           // waits until the program has used so much more processor time
  int finish();                         // exit code
  const std::string& screen() const { return screen_; }  // everything, escape sequences included

 private:
  bool read_some(double seconds);
  int pid_ = -1;
  int terminal_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

extern const std::string kProgram;  // build/lunagrad

std::string make_temporary_folder();
std::string read_file(const std::string& path);

// How often a part occurs in a text.
inline size_t occurrences(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// A folder to run `lunagrad` in, gone afterwards.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& content) const;
  Finished run(std::vector<std::string> arguments, const std::string& input = "",
               const std::vector<std::string>& env = {}) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lunagrad::test
