#pragma once
// Asks before code runs that lies in a run, bundle or sweep of somebody else, and unpacks bundles. Owns the
// unpacked bundles. What was answered holds as long as the window. Drawing thread only; files are read on a
// thread of its own.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "script/trust/marks.h"
#include "script/view/run.h"
#include "ui/base/errands.h"
#include "ui/record/actions.h"

namespace lunagrad {

// How code may run.
struct CodeLimits {
  bool confined = false;  // somebody else has made it: in the sandbox
  std::string script;     // that starts it from the beginning; "": a sweep's
  // The folder in which the script finds its modules, and which a confined one reads ("": its own).
  std::string folder;
  Modules modules;
  std::map<std::string, std::string> stand_ins;  // of a bundle
  void apply_to(RunOptions&) const;
};

class TrustDesk {
 public:
  // `actions` outlives it. `wake` requests a frame; it is called on any thread.
  TrustDesk(Actions& actions, const std::function<void()>& wake);
  ~TrustDesk();

  // The folder of the run or sweep that a script lies in; "" when it lies in none.
  std::string home_of(const std::string& script) const;
  // As --trust says it: this run, bundle or sweep may run, and what lies in it, as it is now. A change of it
  // asks again. "": nothing.
  void trust(const std::string& opened);
  // Calls `go` when it is known how the code in this folder may run: soon, or when the user has answered, or
  // never. `sandbox`: what somebody else has made runs there, without a question. `failed` gets an error
  // text. A later call takes the place of this one.
  void ask(const std::string& folder, bool sandbox, std::function<void(const CodeLimits&)> go,
           std::function<void(const std::string&)> failed);
  void update();  // once a frame

  struct Question {
    std::string name;                 // of the run, bundle or sweep
    std::string why;                  // it is foreign
    std::string script;               // the name of its script
    std::vector<std::string> begins;  // its first lines
    size_t more = 0;                  // lines
  };
  const Question* question() const { return question_ ? &*question_ : nullptr; }  // null: nothing is asked
  void answer(const std::string& answer) { actions_.act("answer_trust", {answer}); }  // trust, sandbox, no

  // An opened run, bundle or sweep.
  struct Opened {
    std::string folder;  // of its numbers; a bundle is unpacked into a temporary folder
    std::string script;  // that Run starts; the file of a bundle is written when the bundle may run
  };
  void open(const std::string& path, std::function<void(const Opened&, const std::string& problem)> done);

 private:
  struct Bundle;
  struct Look;  // at what would run
  void decide(const std::shared_ptr<Look>&);
  void take_trust(const std::shared_ptr<Look>&);
  void open_bundle(const std::string& bundle,
                   std::function<void(const Opened&, const std::string& problem)> done);
  bool is_given(const Look&) const;
  void prepare(const std::shared_ptr<Look>&, bool confined);
  const Bundle* bundle_of(const std::string& path) const;

  Actions& actions_;
  std::vector<std::shared_ptr<Bundle>> bundles_;
  std::map<std::string, bool> answers_;  // by content or folder: confined
  std::string given_;                    // by --trust; "": nothing
  std::set<std::string> took_given_;     // folders that were answered for by it
  std::shared_ptr<Look> look_;           // the latest
  std::optional<Question> question_;
  Errands thread_;  // last: its destructor waits for work that uses the members above
};

}  // namespace lunagrad
