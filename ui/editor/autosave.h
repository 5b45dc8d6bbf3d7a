#pragma once
// Keeps unsaved texts on the disk, so that neither a crash nor closing the window loses them. Each process
// has a folder of its own with a lock that ends with it; a folder whose lock is free was left behind, and its
// texts are handed to the next start. Owns the folder and the lock. One thread.
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

class Autosave {
 public:
  struct Text {
    std::string path;  // of the file that it belongs to, "" for none
    std::string content;
  };

  explicit Autosave(
      std::string folder);  // "": keeps nothing. The folder is made when there is something to keep
  ~Autosave();              // removes the folder when nothing is kept in it
  Autosave(const Autosave&) = delete;

  // What other processes left behind. Their folders stay until forget_left_behind().
  std::vector<Text> left_behind();
  void forget_left_behind();

  // `id` names the text among those of this process. False: it could not be written, and trouble() says why.
  bool keep(int id, const std::string& path, std::string_view content);
  void drop(int id);
  const std::string& trouble() const { return trouble_; }

 private:
  bool open();

  std::string root_, own_, trouble_;
  int lock_ = -1;
  std::vector<std::pair<std::string, int>> taken_;  // folders left behind, and their locks
};

}  // namespace lunagrad
