#pragma once
// A row for typing a file's path: Tab completes it from the disk, and the possible completions are listed
// below. Drawing thread only.
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lunagrad {

// The paths that start with `beginning`, folders with a trailing slash; sorted, at most `most`.
std::vector<std::string> path_completions(const std::string& beginning, size_t most);
// The longest common prefix; "" if there is none.
std::string common_beginning(const std::vector<std::string>& paths);

class PathBar {
 public:
  using Describe = std::function<void(const char* name, const std::string& text)>;

  void open(std::string label, std::string path);  // the label is the text of the button: "Open"
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  const std::string& label() const { return label_; }
  void complain(std::string error) { error_ = std::move(error); }
  // Returns the path when the user has entered it. The row stays until close().
  std::optional<std::string> draw(const Describe&);

 private:
  bool open_ = false, focus_ = false;
  std::string label_, path_, looked_at_, error_;
  std::vector<std::string> completions_;
};

}  // namespace lunagrad
