#pragma once
// The parameters of a run: what the script declared with lg.run.param and lg.run.live, what --set asked for,
// and the edits that a window makes while it runs. Declaring and applying edits belong to the session's
// thread; list() and edit() may be called from any.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/error.h"
#include "script/session.h"

namespace lunagrad {

// The command line asked for what the script does not offer: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The type of a parameter is that of its default.
using ParamValue = std::variant<bool, int64_t, double, std::string>;

std::string to_text(const ParamValue&);  // "true", "12", "0.001", "adam"
std::optional<double> to_number(const ParamValue&);
// `text` as the type of `like`; empty when it is none ("abc" for a number, "1.5" for an integer).
std::optional<ParamValue> parse_param(const std::string& text, const ParamValue& like);

struct Param {
  ParamInfo info;
  ParamValue value;
};

class Params {
 public:
  explicit Params(std::map<std::string, std::string> set);

  // Values from a checkpoint, in place of the defaults of parameters that are declared from now on.
  void resume(std::map<std::string, std::string> values) { resumed_ = std::move(values); }
  // The parameter, with what --set, else the checkpoint says in place of the default. The same name again
  // gives the same parameter. UsageError when --set does not fit the type or the range, Error when the
  // default lies outside the range.
  const Param& declare(ParamInfo info, ParamValue fallback);
  const Param* find(const std::string& name) const;
  const std::map<std::string, size_t>& index() const { return index_; }
  const std::vector<Param>& all() const { return params_; }
  // The sentence about a --set that names no declared parameter; empty when all are known.
  std::string unknown() const;

  // Takes over the edits made since the last call; returns the names of those parameters.
  std::vector<std::string> apply_edits();

  // Any thread.
  std::vector<ParamInfo> list() const;
  bool edit(const std::string& name, const std::string& value);

 private:
  void publish();

  std::map<std::string, std::string> set_, resumed_;
  std::vector<Param> params_;
  std::map<std::string, size_t> index_;

  mutable std::mutex mutex_;
  std::vector<Param> published_;
  std::map<std::string, ParamValue> edits_;
};

}  // namespace lunagrad
