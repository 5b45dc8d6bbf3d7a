#pragma once
// Finds what keeps graphs and tensors alive beyond their steps: asks the session to walk the objects that the
// script holds, once or at the ends of steps. Owns the request, not the report. Drawing thread only; the
// session's thread walks.
#include <functional>
#include <memory>

#include "script/session.h"
#include "ui/base/awaited.h"
#include "ui/record/actions.h"

namespace lunagrad {

class OwnerController {
 public:
  // All references outlive this object. `wake` is called on the session's thread when a walk is done.
  OwnerController(Session&, Actions&, std::function<void()> wake);

  void find() { actions_.act("find_owners"); }
  void watch(bool on) { actions_.act("watch_owners", {on}); }
  bool watching() const { return watching_; }
  bool finding() const { return walked_.waiting(); }
  // The report of the latest walk; null if there was none in this run.
  std::shared_ptr<const LeakReport> report() const { return session_.leaks(); }

 private:
  struct Walked {};
  Session& session_;
  Actions& actions_;
  bool watching_ = false;
  Awaited<Walked> walked_;
};

}  // namespace lunagrad
