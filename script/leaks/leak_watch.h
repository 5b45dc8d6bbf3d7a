#pragma once
// Finds values that outlive the step in which they were made, and names their owner: graphs for which no
// backward pass will come, and parameters and tensors of many bytes whose number grows from step to step. At
// the end of steps it walks everything that the script keeps alive (heap_walk.h). After twelve steps, or once
// this has taken a second, it walks at the end of fewer steps, so that it takes a fifth of the time. While it
// is off, it only notes the ids at which steps begin, so that a walk on request knows the age of values.
// report() and watch() may be called from any thread, everything else from the session's thread.
#include <atomic>
#include <functional>
#include <lua.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "script/leaks/held_graph.h"
#include "script/leaks/owner_past.h"
#include "script/view/leaks.h"

namespace lunagrad {

class HeapWalk;
class ScriptPlaces;
struct HeldTensor;
struct OwnerGroup;

class LeakWatch {
 public:
  using HostTensors = std::map<std::string, Tensor>;

  // `threshold`: bytes of an owner's tensors from which on they count; 0: the watch is off, unless a viewer
  // wants it.
  void begin_run(size_t threshold);
  void watch(bool on) { wanted_.store(on); }  // a viewer's wish, from the next step on
  // Walks now, whether the watch is on or not.
  void look_now(lua_State*, const HostTensors& host);
  bool on() const { return threshold_ > 0; }
  void begin_step(int64_t step);
  void root(const Tensor&);  // the root of one of the script's backward passes
  // Step `done` of `total` has ended. `host` gives the tensors of lg.host.
  void end_step(lua_State*, int64_t done, std::optional<int64_t> total,
                const std::function<HostTensors()>& host);
  void end_run();  // a backward pass after the last step may have come for graphs held until then
  std::shared_ptr<const LeakReport> report() const;  // null: the watch is off, or there was no walk yet

 private:
  struct Found {
    Leak leak;
    bool passed = false;  // a backward pass went through these tapes
    bool lasts = false;   // counts even if its owner has dropped it since
    int64_t seen = 0;     // the step of the latest walk that found it
  };
  void begin_watch();
  bool wants_walk(std::optional<int64_t> total) const;
  void walk(lua_State*, const HostTensors&);
  void look(lua_State*, const HostTensors&);
  void list_held(std::vector<HeldTensor>& tapes, std::vector<HeldTensor>& others, const ScriptPlaces&);
  bool list(OwnerGroup&, Leak&) const;
  size_t bytes_of_steps(const HeapWalk&) const;
  void note_carried(const HeldGraph& all);
  bool is_due(uint64_t node) const;
  bool is_beyond_passes(int64_t step) const;
  void judge_tapes(std::vector<HeldTensor>&, const ScriptPlaces&);
  void judge_tapes(OwnerGroup&, bool single, const ScriptPlaces&);
  void judge_growth(std::vector<HeldTensor>&, const ScriptPlaces&);
  void judge_growth(OwnerGroup&, const ScriptPlaces&);
  void name_owner(const OwnerGroup&, Leak&, const ScriptPlaces&) const;
  void add(const OwnerGroup&, Found, const ScriptPlaces&);
  void publish();

  std::atomic<bool> wanted_{false};
  size_t asked_ = 0;  // threshold in the run's options
  size_t threshold_ = 0;
  bool complete_ = true, locals_ = true;  // of the latest walk
  bool once_ = false;  // only one walk is made, so it is not known which passes went through a graph
  StepClock clock_;
  PassTimes passes_;
  int64_t step_ = 0;                         // the last step that ended
  int64_t looked_ = 0, looks_ = 0;           // the step of the latest walk, the number of walks
  uint64_t looked_ticks_ = 0, cost_ = 0;     // the end of the latest walk and its length
  uint64_t began_ticks_ = 0, all_cost_ = 0;  // the beginning of the first walk, the length of all walks
  std::map<std::string, OwnerPast> past_;
  std::unordered_set<uint64_t> carried_;  // nodes from before the latest walk that later nodes use
  std::map<std::string, Found> found_;
  std::vector<Leak> held_;

  mutable std::mutex mutex_;
  std::shared_ptr<const LeakReport> report_;  // under mutex_
};

}  // namespace lunagrad
