#pragma once
// A row in which a file's path is typed: Tab completes it from the disk, and what it may become is listed
// below. Drawing thread only.
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lunagrad {

// The paths that a beginning may become, folders with a slash behind them; sorted, at most `most`.
std::vector<std::string> path_completions(const std::string& beginning, size_t most);
// The longest beginning that all have; "" for none.
std::string common_beginning(const std::vector<std::string>& paths);

class PathBar {
 public:
  using Describe = std::function<void(const char* name, const std::string& text)>;

  void open(std::string label, std::string path);  // the label is on the button: "Open"
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  const std::string& label() const { return label_; }
  void complain(std::string error) { error_ = std::move(error); }
  // The path, when it was entered. The row stays until close().
  std::optional<std::string> draw(const Describe&);

 private:
  bool open_ = false, focus_ = false;
  std::string label_, path_, looked_at_, error_;
  std::vector<std::string> completions_;
};

}  // namespace lunagrad
