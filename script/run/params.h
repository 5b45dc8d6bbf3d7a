#pragma once
// The parameters of a run: declared by the script with lg.run.param and lg.run.live, set by --set, and edited
// in the window while the script runs. list() and edit() may be called from any thread, everything else from
// the session's thread.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/core/error.h"
#include "script/view/run.h"

namespace lunagrad {

// The command line sets a parameter that the script does not have or does not accept: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A parameter has the type of its default.
using ParamValue = std::variant<bool, int64_t, double, std::string>;

std::string to_text(const ParamValue&);  // "true", "12", "0.001", "adam"
std::optional<double> to_number(const ParamValue&);
// `text` converted to the type of `like`; empty when it does not fit ("abc" for a number, "1.5" for an
// integer).
std::optional<ParamValue> parse_param(const std::string& text, const ParamValue& like);

struct Param {
  ParamInfo info;
  ParamValue value;
  ParamValue declared;                  // what its first declaration returned to the script
  ParamValue fallback;                  // the default in the script
  bool edited = false;                  // a user changed it during the run
  std::optional<int64_t> unread_since;  // edited at the end of this step and not read since
};

// A parameter at a keyframe, as texts: its value when the script declared it, its value at the keyframe, and
// its default.
struct ParamStart {
  std::string name, declared, value, fallback;
  bool edited = false;
};

class Params {
 public:
  explicit Params(std::map<std::string, std::string> set);

  // Values from a checkpoint. They replace the defaults of parameters that are declared from now on.
  void resume(std::map<std::string, std::string> values) { resumed_ = std::move(values); }
  // Passes the values of the previous script on. A parameter gets its previous value if it was edited or if
  // its default is unchanged.
  void take_over(const Params& before) { take_over(before.starts()); }
  void take_over(const std::vector<ParamStart>&);
  // The same script begins again, at a keyframe: a parameter is declared with the value that it was first
  // declared with, and go_on() gives it its value at the keyframe. --set does not apply to these parameters.
  void begin_again(const std::vector<ParamStart>&);
  void go_on();
  std::vector<ParamStart> starts() const;
  // The parameter with its value: from --set, else from the checkpoint, else the default. Declaring a name
  // again returns the same parameter. UsageError when --set does not fit the type or the range, Error when
  // the default lies outside the range.
  const Param& declare(ParamInfo info, ParamValue fallback);
  const Param* find(const std::string& name) const;
  const std::map<std::string, size_t>& index() const { return index_; }
  const std::vector<Param>& all() const { return params_; }
  // A sentence about a --set that names no declared parameter; empty when all names are declared.
  std::string unknown() const;

  // Applies the edits made since the last call, at the end of `step`; returns the names of the edited
  // parameters.
  std::vector<std::string> apply_edits(int64_t step);
  // The script has read the value.
  void read(const std::string& name);
  // A sentence about each parameter that was edited two steps before `step` and has not been read since.
  std::vector<std::string> unread(int64_t step);
  // Sentences about values that could not be taken over since the last call.
  std::vector<std::string> take_misfits() { return std::exchange(misfits_, {}); }

  // Any thread.
  std::vector<ParamInfo> list() const;
  bool edit(const std::string& name, const std::string& value, std::string* why = nullptr);

 private:
  void publish();

  std::map<std::string, std::string> set_, resumed_;
  std::map<std::string, ParamStart> former_, again_;
  std::vector<std::string> misfits_;
  std::vector<Param> params_;
  std::map<std::string, size_t> index_;

  mutable std::mutex mutex_;
  std::vector<Param> published_;
  std::map<std::string, ParamValue> edits_;
};

}  // namespace lunagrad
