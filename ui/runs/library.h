#pragma once
// The folders of runs, read and watched on a separate thread: a row per run, and the curves of shown runs.
// Follows runs that are still being written. The drawing thread sends requests and, once a frame, takes over
// the results; it never waits for a file.
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
  // `wake` is called on the library's thread when there are results.
  explicit RunLibrary(std::function<void()> wake = {});
  ~RunLibrary();
  RunLibrary(const RunLibrary&) = delete;

  // Each call is in effect until the next one. The first one starts the thread.
  void look_in(const std::set<std::string>& folders);  // looks for runs there, now and every second
  void show(const std::string& run, bool);             // shows or hides the curves of the run in this folder
  bool shows(const std::string& run) const { return asked_.count(run) > 0; }
  const std::set<std::string>& shown() const { return asked_; }
  void look_again();  // looks again immediately, because the window changed a file
  void set_smoothing(double beta);

  bool update();  // returns true when something new was taken over
  const std::vector<RunSummary>& runs() const { return runs_; }
  uint64_t revision() const { return revision_; }  // grows with each change of runs()
  // Runs that were read and runs in total during the first scan; 0 and 0 afterwards.
  std::pair<size_t, size_t> progress() const { return progress_; }
  // Curves of the shown runs, by folder. Drawing thread.
  std::map<std::string, RunCurves>& curves() { return curves_; }
  const std::map<std::string, RunCurves>& curves() const { return curves_; }
  const std::map<std::string, std::string>& problems() const { return problems_; }  // errors, by folder
  // Returns the folders of shown runs that were removed; these runs are no longer shown.
  std::vector<std::string> take_gone() { return std::exchange(gone_, {}); }

 private:
  struct Point {
    std::string metric;
    int64_t step;
    double time, value;
  };
  // The result of reading a shown run: all of its curves (`whole`), or the new part.
  struct News {
    std::string folder, problem;
    bool whole = false, gone = false;
    RunCurves curves;           // complete if `whole`; otherwise only marks and group
    std::vector<Point> points;  // the new points if not `whole`
  };
  class Reader;
  void start();
  void run();

  std::function<void()> wake_;
  // Drawing thread.
  std::set<std::string> folders_, asked_;
  double smoothing_ = kDefaultSmoothing;
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
  double wanted_smoothing_ = kDefaultSmoothing;
  std::unique_ptr<std::vector<RunSummary>> found_runs_;
  std::pair<size_t, size_t> found_progress_{};
  std::vector<News> news_;
  std::thread thread_;
};

}  // namespace lunagrad
