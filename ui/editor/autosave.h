#pragma once
// Keeps unsaved texts on the disk, so that neither a crash nor closing the window loses them. Each process
// has its own folder with a lock that the system releases when the process ends. A folder with a free lock
// was left by an earlier process, and the next start takes its texts. Owns the folder and the lock. One
// thread.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

class Autosave {
 public:
  struct Text {
    std::string path;  // the text's own file; "" for none
    std::string content;
  };

  explicit Autosave(std::string folder);  // "": keeps nothing. The folder is made when the first text is kept
  ~Autosave();                            // removes the folder if it is empty
  Autosave(const Autosave&) = delete;

  // The texts of processes that have ended. Their folders stay until forget_left_behind().
  std::vector<Text> left_behind();
  void forget_left_behind();

  // `id` identifies the text in this process. Returns false if the text could not be written; trouble() has
  // the reason.
  bool keep(int id, const std::string& path, std::string_view content);
  void drop(int id);
  const std::string& trouble() const { return trouble_; }

 private:
  bool open();

  std::string root_, own_, trouble_;
  int lock_ = -1;
  std::vector<std::pair<std::string, int>> taken_;  // folders left by earlier processes, and their locks
};

}  // namespace lunagrad
