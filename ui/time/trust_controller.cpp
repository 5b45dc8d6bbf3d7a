#include "ui/time/trust_controller.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/temporary_folder.h"
#include "script/run/bundle.h"
#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/run/sweep.h"
#include "script/time/timeline.h"
#include "script/trust/inside.h"
#include "ui/runs/list.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLines = 10, kLongestName = 100;

void take_lines(TrustController::Question& question, std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (question.begins.size() < kLines)
      question.begins.emplace_back(text.substr(0, end));
    else
      ++question.more;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// A foreign run's script path is not used: its own copy of the script runs, after the question.
std::string script_of_run(const std::string& folder, bool own) {
  const std::string script = read_run_config(folder).script;
  return own && fs::exists(script) ? script : folder + "/script.lua";
}

}  // namespace

void CodeLimits::apply_to(RunOptions& options) const {
  options.sandbox |= confined;
  // A trusted run that continues from states has the files of its modules in its options already.
  if (confined || !options.start) options.folder = folder;
  if (options.modules.empty()) options.modules = modules;
  if (!stand_ins.empty()) options.stand_ins = stand_ins;
}

struct TrustController::Bundle {
  std::string path;
  TemporaryFolder temporary;
  std::string folder, script;  // paths within the temporary folder
  // How it was unpacked as a whole; nothing: it was not.
  std::optional<bool> confined;
  std::map<std::string, std::string> stand_ins;

  // Does not unpack again, so that later changes in the folder stay, unless the confinement changes.
  void unpack(bool confine) {
    if (confined == confine) return;
    std::error_code ignored;
    fs::remove_all(temporary.path() + "/work", ignored);
    stand_ins = unpack_bundle(path, temporary.path(), confine, {}).stand_ins;
    confined = confine;
  }
};

struct TrustController::Look {
  std::string folder;
  std::shared_ptr<Bundle> bundle;  // null: a folder was opened
  bool sandbox = false;
  std::function<void(const CodeLimits&)> go;
  std::function<void(const std::string&)> failed;
  RunOrigin origin;
  bool trusted = false;
  bool trusts = false;  // the user has just answered "trust"
  Question question;
  CodeLimits limits;

  // Runs on the background thread.
  void look() {
    const bool trials = is_sweep(folder);
    if (!trials) refuse_special(folder);
    origin = trials   ? origin_of_sweep(folder)
             : bundle ? origin_of_bundle(bundle->path, folder)
                      : origin_of_run(folder);
    trusted = origin.own || is_trusted(origin.content);
    question.name = bundle ? bundle->path : folder;
    question.why = origin.why;
    question.script = trials ? read_sweep(folder).script : read_run_config(folder).script;
    if (!trusted) take_lines(question, read_file(file_inside(folder, "script.lua", folder)));
  }

  void prepare() {
    if (trusts) remember_trust(origin.content, question.name);
    if (bundle) {
      bundle->unpack(limits.confined);
      limits.stand_ins = bundle->stand_ins;
      limits.script = bundle->script;
      return;
    }
    limits.folder = folder;
    if (is_sweep(folder)) {
      if (limits.confined) require_inside(folder);
      return;
    }
    limits.script = script_of_run(folder, origin.own);
    try {
      limits.modules = read_timeline(folder, true).spans.front().modules;
    } catch (const Error&) {  // the timeline names files outside the folder: allowed only if trusted
      if (limits.confined) throw;
    }
  }
};

TrustController::TrustController(Actions& actions, const std::function<void()>& wake)
    : actions_(actions), thread_(wake) {
  actions_.add({"answer_trust", "answer",
                [this](const ActionArguments& given) {
                  const std::string& answer = given.text(0, "answer");
                  if (answer != "trust" && answer != "sandbox" && answer != "no")
                    given.refuse("the answer must be trust, sandbox or no, got " + answer);
                  if (!question_) given.refuse("nothing is asked");
                  question_.reset();
                  const std::shared_ptr<Look> look = look_;
                  if (answer == "no") return look_.reset();
                  if (answer == "trust") return take_trust(look);
                  answers_[look->folder] = true;
                  prepare(look, true);
                },
                [this](const ActionArguments&) -> std::string {
                  return question_ ? "" : "no question about trust is shown";
                }});
}

TrustController::~TrustController() = default;

const TrustController::Bundle* TrustController::bundle_of(const std::string& path) const {
  for (const auto& bundle : bundles_)
    if (path.starts_with(bundle->temporary.path() + "/")) return bundle.get();
  return nullptr;
}

std::string TrustController::home_of(const std::string& script) const {
  if (script.empty()) return {};
  if (const Bundle* const bundle = bundle_of(script)) return bundle->folder;
  std::error_code failed;
  const std::string folder = fs::absolute(script, failed).parent_path().string();
  return !failed && (is_run(folder) || is_sweep(folder)) ? folder : "";
}

void TrustController::trust(const std::string& opened) {
  given_ = opened.empty() ? opened : full_path(opened);
}

void TrustController::ask(const std::string& folder, bool sandbox, std::function<void(const CodeLimits&)> go,
                          std::function<void(const std::string&)> failed) {
  question_.reset();
  const auto look = look_ = std::make_shared<Look>();
  look->folder = folder;
  look->sandbox = sandbox;
  for (const auto& bundle : bundles_)
    if (bundle.get() == bundle_of(folder)) look->bundle = bundle;
  look->go = std::move(go);
  look->failed = std::move(failed);
  thread_.add([look] { look->look(); },
              [this, look](const std::string& problem) {
                if (look != look_) return;
                if (problem.empty()) return decide(look);
                look_.reset();
                look->failed(problem);
              });
}

void TrustController::decide(const std::shared_ptr<Look>& look) {
  if (look->sandbox && !look->origin.own) return prepare(look, true);
  if (look->trusted) return prepare(look, false);
  const auto boxed = answers_.find(look->folder), trusted = answers_.find(look->origin.content);
  if (trusted != answers_.end()) return prepare(look, false);
  if (boxed != answers_.end()) return prepare(look, true);
  if (is_given(*look) && took_given_.insert(look->folder).second) return take_trust(look);
  question_ = look->question;
}

bool TrustController::is_given(const Look& look) const {
  const std::string place = full_path(look.question.name);
  return !given_.empty() && (place == given_ || place.starts_with(given_ + "/"));
}

void TrustController::take_trust(const std::shared_ptr<Look>& look) {
  if (!look->origin.content.empty()) answers_[look->origin.content] = false;
  look->trusts = true;
  prepare(look, false);
}

void TrustController::prepare(const std::shared_ptr<Look>& look, bool confined) {
  look->limits.confined = confined;
  thread_.add([look] { look->prepare(); },
              [this, look](const std::string& problem) {
                if (look != look_) return;
                look_.reset();
                if (problem.empty())
                  look->go(look->limits);
                else
                  look->failed(problem);
              });
}

void TrustController::update() { thread_.update(); }

void TrustController::open(const std::string& path,
                           std::function<void(const Opened&, const std::string&)> done) {
  if (is_bundle(path)) return open_bundle(path, std::move(done));
  const auto opened = std::make_shared<Opened>();
  opened->folder = path;
  thread_.add(
      [opened] {
        const std::string& folder = opened->folder;
        if (is_sweep(folder)) {
          const std::string script = read_sweep(folder).script;
          const bool own = fs::exists(script) && origin_of_sweep(folder).own;
          opened->script = own ? script : folder + "/script.lua";
        } else {
          opened->script = script_of_run(folder, origin_of_run(folder).own);
        }
      },
      [opened, done = std::move(done)](const std::string& problem) { done(*opened, problem); });
}

void TrustController::open_bundle(const std::string& path,
                                  std::function<void(const Opened&, const std::string&)> done) {
  const auto bundle = std::make_shared<Bundle>();
  bundle->path = path;
  thread_.add(
      [bundle] {
        const std::string& inside = bundle->temporary.path();
        bundle->script = inside + "/work/" + unpack_run(bundle->path, inside).place;
        // A run is shown by the name of its folder.
        const std::string name = plain_name(fs::path(bundle->path).stem().string(), kLongestName);
        bundle->folder = inside + "/" + (name.empty() || name == "work" ? "bundle" : name);
        if (bundle->folder != inside + "/run") fs::rename(inside + "/run", bundle->folder);
        if (!is_run(bundle->folder))
          fail_as(ErrorKind::file, bundle->path, ": holds no numbers of a run: it has no metrics.jsonl");
      },
      [this, bundle, done = std::move(done)](const std::string& problem) {
        if (problem.empty()) bundles_.push_back(bundle);
        done({bundle->folder, bundle->script}, problem);
      });
}

}  // namespace lunagrad
