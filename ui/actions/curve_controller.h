#pragma once
// The curves that the window shows, of the current run and of other runs' folders, with their smoothing. Owns
// the run library; the current run belongs to the journal. Drawing thread only.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ui/actions/shell.h"
#include "ui/runs/journal.h"
#include "ui/runs/library.h"

namespace lunagrad {

class CurveController {
 public:
  // The references outlive this object. `wake` requests a frame; it is called on any thread.
  CurveController(Journal& journal, Shell& shell, const std::function<void()>& wake);

  // Takes over the curves that the library has read, and reports removed folders. Once a frame. Returns true
  // when something is new.
  bool update();

  const RunLibrary& library() const { return library_; }
  // Looks for runs in runs/ of the working folder and of the script's folder, and next to the current and the
  // opened runs. Returns these folders.
  std::set<std::string> look_around(const std::string& script);
  // The folder of a sweep that the user opened; "" for none.
  void open_sweep(const std::string& folder) { opened_sweep_ = folder; }
  const std::string& opened_sweep() const { return opened_sweep_; }
  void look_again() { library_.look_again(); }
  void show(const std::string& folder, bool on) { shell_.actions().act("show_run", {folder, on}); }

  // Shows the curves of exactly these runs.
  void show_only(const std::vector<std::string>& folders) {
    shell_.actions().act("show_runs", {folders}, true);
  }

  // The curves that a chart reads. They are not const: a chart has them cache values for other axes.
  RunCurves& live() { return journal_.curves(); }
  std::map<std::string, RunCurves>& shown() { return library_.curves(); }  // by folder

  // The factor beta of the exponential moving average, in [0, 1).
  double smoothing() const { return journal_.smoothing(); }
  void set_smoothing(double beta) { shell_.actions().act("set_smoothing", {beta}, true); }
  void smooth_shown() { library_.set_smoothing(smoothing()); }  // applies it to the runs from folders

 private:
  Journal& journal_;
  Shell& shell_;
  RunLibrary library_;
  std::string opened_sweep_;
};

}  // namespace lunagrad
