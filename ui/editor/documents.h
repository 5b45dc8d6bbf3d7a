#pragma once
// The texts that are open in the editor, and their files: opened, saved whole or not at all, watched for
// changes from outside, kept through crashes. Knows neither window nor session. Drawing thread only, which
// never waits for what is written: a thread does that, and update() takes over what it came to.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ui/base/disk_thread.h"
#include "ui/editor/autosave.h"
#include "ui/text/buffer.h"

namespace lunagrad {

// A file's identity and moment, to see that somebody else wrote it.
struct FileStamp {
  int64_t seconds = 0, nanoseconds = 0, size = -1;
  uint64_t inode = 0;
  bool exists() const { return size >= 0; }
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);
bool same_file(const std::string& a, const std::string& b);  // also through links and relative paths

struct Document {
  int id = 0;
  std::string path;   // as it was given; "" for a text without a file
  std::string title;  // "train.lua", "untitled 1"
  TextBuffer buffer;
  // The lines that the session runs, for what it says about them; empty when it does not run this text.
  std::vector<std::string> run_lines;

  enum class Trouble {
    none,
    conflict,  // changed here and on the disk
    gone,      // the file is no longer there, or cannot be read
    restored   // unsaved text of an earlier start, that nobody has looked at yet
  } trouble = Trouble::none;
  std::string reason;  // why it cannot be read or saved
  bool read_only = false;

  bool modified() const { return buffer.state() != saved_; }

 private:
  friend class Documents;
  uint64_t saved_ = 0, kept_ = 0;  // states of the buffer
  uint64_t restored_ = 0;
  int writing_ = 0;  // how often it is on its way to the disk
  FileStamp disk_, seen_;
};

class Documents {
 public:
  static constexpr int64_t kLargest = int64_t(64) << 20;  // bytes of a file

  // Told when it was saved, with "", or why it was not. On the drawing thread, within update().
  using Saved = std::function<void(const std::string& error)>;

  // `wake` is called on any thread when update() has something new.
  explicit Documents(const std::string& autosave_folder = {}, std::function<void()> wake = {});
  ~Documents();

  // The document of that file, opened when it is not open yet. Error (kind file) when it cannot be read.
  Document& open(const std::string& path);
  Document& create(const std::string& path);  // for a file that saving will make
  Document& add_untitled();
  void keep_in(const std::string& autosave_folder);  // before anything is open
  // What another process had left unsaved is open again. Returns how many.
  int restore();
  // Its text as it is now goes into its file, or into `path`, which is its own once that is done. Error (kind
  // file) where that can be seen not to go; either way a failure leaves file and text as they were.
  void save(Document&, Saved = {});
  void save_as(Document&, const std::string& path, Saved = {});
  void close(Document&);           // unsaved text is lost
  void take_from_disk(Document&);  // can be undone
  void keep_mine(Document&);       // the next save writes over what is on the disk

  size_t count() const { return all_.size(); }
  Document& operator[](size_t i) { return *all_[i]; }
  Document* find(const std::string& path);  // null when it is not open
  Document* with_title(const std::string& title);
  Document* with_id(int id);
  Document* active() { return active_; }  // the one that is shown, null for none
  void activate(Document& document) { active_ = &document; }

  // Once a frame: has the disk looked at twice a second, keeps unsaved text every two seconds. Files that
  // changed on the disk and are at rest go to `changed`: those of documents, whose text is taken over unless
  // it was changed here, and `others`.
  void update(const std::vector<std::string>& others, std::vector<std::string>& changed);
  void keep_unsaved();  // begins to, now
  void settle();        // waits until all is written: where the window ends, and in tests
  const std::string& autosave_trouble() const { return trouble_; }

 private:
  using Clock = std::chrono::steady_clock;
  // What the disk's thread has done.
  struct Written {
    int id = 0;
    uint64_t state = 0;  // of the buffer when it began
    std::string path, error;
    FileStamp stamp;
    Saved saved;
  };
  struct Kept {
    int id = 0;
    std::string trouble;
  };
  // A file that is looked at: as it was known, and how it was found.
  struct Look {
    int id = 0;  // of the document, 0 for none
    std::string path;
    FileStamp known, seen;
    bool wanted = false;  // its text is read though it is the one that is known
    FileStamp stamp;
    bool writable = false;
    std::string text, trouble;  // of a file that changed and is at rest
  };
  Document& add(std::string path, std::string title);
  void read(Document&);
  void ask_disk(const std::vector<std::string>& others);
  static void look(Look&);  // on the disk's thread
  bool take_look(Document&, Look&);
  bool take_look(const Look&);
  static void take_text(Document&, const Look&);
  void write(Document&, const std::string& path, Saved);
  void take_over(const Written&);
  void take_results();
  void drop_kept(int id);

  std::unique_ptr<Autosave> autosave_;  // once something is open, of the disk's thread
  std::string trouble_;
  std::vector<std::unique_ptr<Document>> all_;
  Document* active_ = nullptr;
  int last_id_ = 0, untitled_ = 0;
  Clock::time_point looked_, kept_;
  std::vector<Look> others_;  // as they were found last
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Written> written_;            // guarded by mutex_, as
  std::vector<Kept> kept_texts_;            // this
  std::optional<std::vector<Look>> looks_;  // and this
  bool looking_ = false;
  DiskThread disk_;  // last: it uses the others
};

}  // namespace lunagrad
