#pragma once
// Asks the user before code runs that is in a run, bundle or sweep made by somebody else, and unpacks
// bundles. Owns the unpacked bundles. An answer holds until the window closes. Drawing thread only; files are
// read on a separate thread.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "script/trust/marks.h"
#include "script/view/run.h"
#include "ui/base/background_tasks.h"
#include "ui/record/actions.h"

namespace lunagrad {

// The limits under which code may run.
struct CodeLimits {
  bool confined = false;  // somebody else made it: it runs in the sandbox
  std::string script;     // the script to start from the beginning; "": for a sweep
  // The folder in which the script finds its modules; a confined script reads it ("": its own folder).
  std::string folder;
  Modules modules;
  std::map<std::string, std::string> stand_ins;  // for a bundle
  void apply_to(RunOptions&) const;
};

class TrustController {
 public:
  // `actions` must outlive this object. `wake` requests a frame; it is called on any thread.
  TrustController(Actions& actions, const std::function<void()>& wake);
  ~TrustController();

  // The folder of the run or sweep that contains a script; "" if there is none.
  std::string home_of(const std::string& script) const;
  // The effect of --trust: this run, bundle or sweep, with its present content, may run without a question.
  // After a change the window asks again. "": nothing is trusted.
  void trust(const std::string& opened);
  // Calls `go` when it is known how the code in this folder may run: soon, after the user has answered, or
  // never. `sandbox`: code made by somebody else runs in the sandbox, without a question. `failed` gets an
  // error text. A later call replaces this one.
  void ask(const std::string& folder, bool sandbox, std::function<void(const CodeLimits&)> go,
           std::function<void(const std::string&)> failed);
  void update();  // once a frame

  struct Question {
    std::string name;                 // name of the run, bundle or sweep
    std::string why;                  // why it counts as made by somebody else
    std::string script;               // the name of its script
    std::vector<std::string> begins;  // its first lines
    size_t more = 0;                  // number of further lines
  };
  const Question* question() const { return question_ ? &*question_ : nullptr; }      // null: no question
  void answer(const std::string& answer) { actions_.act("answer_trust", {answer}); }  // trust, sandbox, no

  // An opened run, bundle or sweep.
  struct Opened {
    std::string folder;  // folder of the logged numbers; a bundle is unpacked into a temporary folder
    std::string script;  // script that Run starts; a bundle's script file is written when the bundle may run
  };
  void open(const std::string& path, std::function<void(const Opened&, const std::string& problem)> done);

 private:
  struct Bundle;
  struct Look;  // an examination of the code that would run
  void decide(const std::shared_ptr<Look>&);
  void take_trust(const std::shared_ptr<Look>&);
  void open_bundle(const std::string& bundle,
                   std::function<void(const Opened&, const std::string& problem)> done);
  bool is_given(const Look&) const;
  void prepare(const std::shared_ptr<Look>&, bool confined);
  const Bundle* bundle_of(const std::string& path) const;

  Actions& actions_;
  std::vector<std::shared_ptr<Bundle>> bundles_;
  std::map<std::string, bool> answers_;  // by content or folder; true: confined
  std::string given_;                    // path given by --trust; "": nothing
  std::set<std::string> took_given_;     // folders that --trust has already answered for
  std::shared_ptr<Look> look_;           // the latest request
  std::optional<Question> question_;
  BackgroundTasks thread_;  // last: its destructor waits for tasks that use the members above
};

}  // namespace lunagrad
