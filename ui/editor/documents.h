#pragma once
// The texts that are open in the editor, and their files: opens and atomically saves them, detects changes by
// other programs, keeps unsaved text through crashes. Needs no window and no session. Drawing thread only. It
// never waits for writing: a separate thread writes, and update() takes over the results.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/base/disk_thread.h"
#include "ui/editor/autosave.h"
#include "ui/text/buffer.h"

namespace lunagrad {

// A file's identity and modification time, to detect that another program wrote it.
struct FileStamp {
  int64_t seconds = 0, nanoseconds = 0, size = -1;
  uint64_t inode = 0;
  bool exists() const { return size >= 0; }
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::string& path);
bool same_file(const std::string& a, const std::string& b);  // resolves links and relative paths

struct Document {
  int id = 0;
  std::string path;   // as given by the caller; "" for a text without a file
  std::string title;  // "train.lua", "untitled 1"
  TextBuffer buffer;
  // The lines of this text that the session runs, to map its reports to lines of the text; empty if it does
  // not run this text.
  std::vector<std::string> run_lines;

  enum class Trouble {
    none,
    conflict,  // changed here and on the disk
    gone,      // the file no longer exists, or cannot be read
    restored   // unsaved text of an earlier start that the user has not looked at yet
  } trouble = Trouble::none;
  std::string reason;  // why the file cannot be read or saved
  bool read_only = false;

  bool modified() const { return buffer.state() != saved_; }
  // Another text of this document's file, which is only read and is no part of Documents. Its id is negative.
  Document other_text(std::string_view content) const;

 private:
  friend class Documents;
  uint64_t saved_ = 0, kept_ = 0;  // states of the buffer: as last saved, as last kept
  uint64_t restored_ = 0;
  int writing_ = 0;  // number of writes in progress
  FileStamp disk_, seen_;
};

class Documents {
 public:
  static constexpr int64_t kLargest = int64_t(64) << 20;  // largest file, in bytes

  // Gets the result of saving: "" or an error text. Called on the drawing thread, within update().
  using Saved = std::function<void(const std::string& error)>;

  // `wake` is called on any thread when update() has something new.
  explicit Documents(const std::string& autosave_folder = {}, std::function<void()> wake = {});
  ~Documents();

  // The document of this file; opens it if necessary. Throws Error (kind file) if it cannot be read.
  Document& open(const std::string& path);
  Document& create(const std::string& path);  // a document whose file does not exist until it is saved
  Document& add_untitled();
  void keep_in(const std::string& autosave_folder);  // for kept texts; call before anything is open
  // Opens the texts that other processes left unsaved. Returns their number.
  int restore();
  // Writes the present text to its file, or to `path`, which then becomes its file. Throws Error (kind file)
  // for errors found immediately; a failure changes neither file nor text.
  void save(Document&, Saved = {});
  void save_as(Document&, const std::string& path, Saved = {});
  void close(Document&);           // unsaved text is lost
  void take_from_disk(Document&);  // replaces the text by the file's; can be undone
  void keep_mine(Document&);       // the next save overwrites the file on the disk

  size_t count() const { return all_.size(); }
  Document& operator[](size_t i) { return *all_[i]; }
  Document* find(const std::string& path);  // null if no document has this file
  Document* with_title(const std::string& title);
  Document* with_id(int id);
  Document* active() { return active_; }  // the document that is shown, null for none
  void activate(Document& document) { active_ = &document; }

  // Once a frame: starts a check of the files twice a second, and keeps unsaved text every two seconds.
  // Appends to `changed` the files that changed on the disk and are no longer being written: files of
  // documents, whose text is taken over unless it was changed here, and files in `others`.
  void update(const std::vector<std::string>& others, std::vector<std::string>& changed);
  void keep_unsaved();  // starts keeping now
  void settle();        // waits until everything is written: for the end of the window, and for tests
  const std::string& autosave_trouble() const { return trouble_; }

 private:
  using Clock = std::chrono::steady_clock;
  // The result of a write on the disk thread.
  struct Written {
    int id = 0;
    uint64_t state = 0;  // state of the buffer when the write started
    std::string path, error;
    FileStamp stamp;
    Saved saved;
  };
  struct Kept {
    int id = 0;
    std::string trouble;
  };
  // A check of a file: its known stamp, and the stamp and text now found.
  struct Look {
    int id = 0;  // id of the document, 0 for none
    std::string path;
    FileStamp known, seen;
    bool wanted = false;  // read the text even if the file is unchanged
    FileStamp stamp;
    bool writable = false;
    std::string text, trouble;  // set for a file that changed and is no longer being written
  };
  Document& add(std::string path, std::string title);
  void read(Document&);
  void ask_disk(const std::vector<std::string>& others);
  static void look(Look&);  // runs on the disk thread
  bool take_look(Document&, Look&);
  bool take_look(const Look&);
  static void take_text(Document&, const Look&);
  void write(Document&, const std::string& path, Saved);
  void take_over(const Written&);
  void take_results();
  void drop_kept(int id);

  std::unique_ptr<Autosave> autosave_;  // made when the first document is opened; used on the disk thread
  std::string trouble_;
  std::vector<std::unique_ptr<Document>> all_;
  Document* active_ = nullptr;
  int last_id_ = 0, untitled_ = 0;
  Clock::time_point looked_, kept_;
  std::vector<Look> others_;  // the last state found
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Written> written_;            // guarded by mutex_
  std::vector<Kept> kept_texts_;            // guarded by mutex_
  std::optional<std::vector<Look>> looks_;  // guarded by mutex_
  bool looking_ = false;
  DiskThread disk_;  // last: its destructor waits for tasks that use the members above
};

}  // namespace lunagrad
