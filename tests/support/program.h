#pragma once
// Runs a program like a user, with its own standard streams or on a pseudo terminal, and returns its output.
#include <string>
#include <vector>

namespace lunagrad::test {

struct Finished {
  int code = -1;  // exit code, 128 + n for death by signal n
  std::string out, err;
};

class Program {
 public:
  // argv[0] is found like execvp does. env: NAME=VALUE to add.
  explicit Program(const std::vector<std::string>& argv, const std::string& input = "",
                   const std::vector<std::string>& env = {}, const std::string& directory = "");
  ~Program();
  Program(const Program&) = delete;

  bool wrote(const std::string& text, double seconds = 20);  // waits for the text on either stream
  void signal(int number);
  Finished finish();
  std::string out() const;
  std::string err() const;

 private:
  std::string folder_;
  int pid_ = -1;
};

// The same on a pseudo terminal with 80 columns, where both streams are one.
class TerminalProgram {
 public:
  explicit TerminalProgram(const std::vector<std::string>& argv, const std::vector<std::string>& env = {});
  ~TerminalProgram();
  TerminalProgram(const TerminalProgram&) = delete;

  void type(const std::string& keys);
  bool wrote(const std::string& text,
             double seconds = 20);                       // waits for the text in output since the last call
  int finish();                                          // exit code
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

// A temporary folder to run `lunagrad` in.
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
