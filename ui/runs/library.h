#pragma once
// The folders of runs, read and watched on a thread of its own: a line for each run, and the curves of those
// that are shown. A run that is being written is followed. The drawing thread asks and, once a frame, takes
// over what was found; it never waits for a file.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ui/runs/curves.h"
#include "ui/runs/list.h"

namespace lunagrad {

class RunLibrary {
 public:
  // `wake` is called on the library's thread when there is something to take over.
  explicit RunLibrary(std::function<void()> wake = {});
  ~RunLibrary();
  RunLibrary(const RunLibrary&) = delete;

  // What the calls below say holds until they say otherwise. The thread starts with the first of them.
  void look_in(const std::set<std::string>& folders);  // for runs, now and each second
  void show(const std::string& run, bool);             // the curves of the run in this folder
  bool shows(const std::string& run) const { return asked_.count(run) > 0; }
  const std::set<std::string>& shown() const { return asked_; }
  void look_again();  // at once: a file was changed from here
  void set_smoothing(double beta);

  bool update();  // true: something new was taken over
  const std::vector<RunSummary>& runs() const { return runs_; }
  uint64_t revision() const { return revision_; }  // grows with each change of runs()
  // How many runs there are, and how many were read, in a first reading that goes on; 0 and 0 after it.
  std::pair<size_t, size_t> progress() const { return progress_; }
  // Of the runs that are shown and were read, by folder. Drawing thread's own.
  std::map<std::string, RunCurves>& curves() { return curves_; }
  const std::map<std::string, std::string>& problems() const { return problems_; }  // of shown runs
  // Folders of shown runs that somebody removed: they are shown no more.
  std::vector<std::string> take_gone() { return std::exchange(gone_, {}); }

 private:
  struct Point {
    std::string metric;
    int64_t step;
    double time, value;
  };
  // What one reading of a shown run found: everything, or what came since.
  struct News {
    std::string folder, problem;
    bool whole = false, gone = false;
    RunCurves curves;           // whole; otherwise marks and group alone
    std::vector<Point> points;  // not whole
  };
  class Reader;
  void start();
  void run();

  std::function<void()> wake_;
  // Drawing thread.
  std::set<std::string> folders_, asked_;
  double smoothing_ = 0.9;
  std::vector<RunSummary> runs_;
  uint64_t revision_ = 0;
  std::pair<size_t, size_t> progress_{};
  std::map<std::string, RunCurves> curves_;
  std::map<std::string, std::string> problems_;
  std::vector<std::string> gone_;
  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, again_ = false;
  std::set<std::string> wanted_folders_, wanted_runs_;
  double wanted_smoothing_ = 0.9;
  std::unique_ptr<std::vector<RunSummary>> found_runs_;
  std::pair<size_t, size_t> found_progress_{};
  std::vector<News> news_;
  std::thread thread_;
};

}  // namespace lunagrad
