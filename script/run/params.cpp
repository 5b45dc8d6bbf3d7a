#include "script/run/params.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return general_number(value);
}

template <class T>
std::optional<T> parse_whole(const std::string& text) {
  T value{};
  const char* first = text.data();
  const char* last = first + text.size();
  if (first != last && *first == '+') ++first;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

const char* type_of(const ParamValue& value) {
  constexpr const char* kNames[] = {"true or false", "an integer", "a number", "a string"};
  return kNames[value.index()];
}

bool in_range(const ParamInfo& info, const ParamValue& value) {
  const std::vector<std::string>& choices = info.choices;
  if (!choices.empty()) return std::find(choices.begin(), choices.end(), to_text(value)) != choices.end();
  const std::optional<double> number = to_number(value);
  if (!number) return true;
  return !(info.min && !(*number >= *info.min)) && !(info.max && !(*number <= *info.max));
}

std::string range_text(const ParamInfo& info) {
  if (!info.choices.empty()) {
    std::string list;
    for (const std::string& choice : info.choices) list += (list.empty() ? "" : ", ") + choice;
    return "{" + list + "}";
  }
  return text("[", info.min ? number_text(*info.min) : "-inf", ", ",
              info.max ? number_text(*info.max) : "inf", "]");
}

void set_value(Param& param, ParamValue value) {
  param.info.value = to_text(value);
  param.info.number = to_number(value);
  param.value = std::move(value);
}

}  // namespace

std::string to_text(const ParamValue& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const int64_t* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const double* d = std::get_if<double>(&value)) return number_text(*d);
  return std::get<std::string>(value);
}

std::optional<double> to_number(const ParamValue& value) {
  if (const int64_t* i = std::get_if<int64_t>(&value)) return double(*i);
  if (const double* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

std::optional<ParamValue> parse_param(const std::string& text, const ParamValue& like) {
  if (std::holds_alternative<bool>(like)) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
  }
  if (std::holds_alternative<int64_t>(like)) {
    if (const auto whole = parse_whole<int64_t>(text)) return *whole;
    // 1e3 is an integer too, as in Lua's math.tointeger.
    const auto real = parse_whole<double>(text);
    if (real && std::trunc(*real) == *real && std::fabs(*real) < 0x1p53) return int64_t(*real);
    return std::nullopt;
  }
  if (std::holds_alternative<double>(like)) {
    if (const auto real = parse_whole<double>(text)) return *real;
    return std::nullopt;
  }
  return text;
}

Params::Params(std::map<std::string, std::string> set) : set_(std::move(set)) {}

const Param& Params::declare(ParamInfo info, ParamValue fallback) {
  if (const auto known = index_.find(info.name); known != index_.end()) {
    Param& param = params_[known->second];
    if (param.value.index() != fallback.index()) {
      fail("run.param: '", info.name, "' was declared as ", type_of(param.value), " at ",
           param.info.place.file, ":", param.info.place.line);
    }
    if (info.live && !param.info.live) {
      param.info.live = true;
      publish();
    }
    return param;
  }
  info.integer = std::holds_alternative<int64_t>(fallback);
  info.fallback = to_text(fallback);
  Param param;
  param.info = std::move(info);
  param.fallback = fallback;
  const std::string& name = param.info.name;
  if (!in_range(param.info, fallback)) {
    fail("run.param: the default ", to_text(fallback), " of '", name, "' is outside ",
         range_text(param.info));
  }
  ParamValue value = fallback;
  const bool set = set_.count(name) != 0;
  const auto& given = set ? set_ : resumed_;
  if (const auto asked = given.find(name); asked != given.end()) {
    const auto parsed = parse_param(asked->second, fallback);
    const std::string option = text(set ? "--set " : "the checkpoint's ", name, "=", asked->second);
    if (!parsed) throw UsageError(text(option, ": '", name, "' is ", type_of(fallback)));
    if (!in_range(param.info, *parsed)) {
      throw UsageError(text(option, ": '", name, "' is outside ", range_text(param.info)));
    }
    value = *parsed;
  }
  if (const auto before = former_.find(name); before != former_.end()) {
    const ParamStart& former = before->second;
    const auto parsed = parse_param(former.value, fallback);
    if (!former.edited && (set || former.fallback != to_text(fallback))) {
      // The script or the command line gives the value.
    } else if (parsed && in_range(param.info, *parsed)) {
      value = *parsed;
      param.edited = former.edited;
    } else {
      misfits_.push_back(text("run.param: '", name, "' was ", former.value,
                              ", which it cannot be any more; it is ", to_text(value)));
    }
  }
  if (const auto again = again_.find(name); again != again_.end())
    if (const auto parsed = parse_param(again->second.declared, fallback)) value = *parsed;
  param.declared = value;
  set_value(param, std::move(value));
  index_[name] = params_.size();
  params_.push_back(std::move(param));
  publish();
  return params_.back();
}

// Includes parameters that only an earlier script declared.
std::vector<ParamStart> Params::starts() const {
  std::map<std::string, ParamStart> known = former_;
  for (const Param& param : params_)
    known[param.info.name] = {param.info.name, to_text(param.declared), to_text(param.value),
                              to_text(param.fallback), param.edited};
  std::vector<ParamStart> list;
  for (auto& [name, start] : known) list.push_back(std::move(start));
  return list;
}

void Params::take_over(const std::vector<ParamStart>& before) {
  for (const ParamStart& start : before) former_[start.name] = start;
}

void Params::begin_again(const std::vector<ParamStart>& starts) {
  for (const ParamStart& start : starts) again_[start.name] = start;
}

// A parameter that the script declares later gets the value at the keyframe too.
void Params::go_on() {
  for (auto& [name, start] : again_) start.declared = start.value;
  for (Param& param : params_) {
    const auto again = again_.find(param.info.name);
    if (again == again_.end()) continue;
    if (const auto parsed = parse_param(again->second.value, param.fallback)) set_value(param, *parsed);
    param.edited = again->second.edited;
  }
  if (!again_.empty()) publish();
}

void Params::read(const std::string& name) { params_[index_.at(name)].unread_since.reset(); }

std::vector<std::string> Params::unread(int64_t step) {
  std::vector<std::string> sentences;
  for (Param& param : params_) {
    if (!param.unread_since || step < *param.unread_since + 2) continue;
    param.unread_since.reset();
    const std::string place = text(param.info.place.file, ":", param.info.place.line);
    sentences.push_back(param.info.live
                            ? text("'", param.info.name,
                                   "' was changed, but the script has not asked its handle since; "
                                   "it was declared at ",
                                   place)
                            : text("'", param.info.name, "' was read once, at ", place, "; use lg.run.live"));
  }
  return sentences;
}

const Param* Params::find(const std::string& name) const {
  const auto known = index_.find(name);
  return known == index_.end() ? nullptr : &params_[known->second];
}

std::string Params::unknown() const {
  for (const auto& [name, value] : set_) {
    if (index_.count(name)) continue;
    std::string declared;
    for (const auto& [other, position] : index_) declared += (declared.empty() ? "" : ", ") + other;
    return text("--set ", name, "=", value, ": the script declares no parameter '", name, "'; ",
                declared.empty() ? "it declares none with lg.run.param" : "it declares " + declared);
  }
  return {};
}

std::vector<std::string> Params::apply_edits(int64_t step) {
  std::map<std::string, ParamValue> edits;
  {
    const std::lock_guard lock(mutex_);
    edits.swap(edits_);
  }
  std::vector<std::string> names;
  for (auto& [name, value] : edits) {
    Param& param = params_[index_.at(name)];
    set_value(param, std::move(value));
    param.edited = true;
    param.unread_since = step;
    names.push_back(name);
  }
  if (!names.empty()) publish();
  return names;
}

std::vector<ParamInfo> Params::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<ParamInfo> infos;
  for (const Param& param : published_) infos.push_back(param.info);
  return infos;
}

bool Params::edit(const std::string& name, const std::string& value, std::string* why) {
  const std::lock_guard lock(mutex_);
  const auto refuse = [&](const std::string& reason) {
    if (why) *why = reason;
    return false;
  };
  for (const Param& param : published_) {
    if (param.info.name != name) continue;
    const auto parsed = parse_param(value, param.value);
    if (!parsed) return refuse(text("'", value, "' is not ", type_of(param.value)));
    if (!in_range(param.info, *parsed)) return refuse(text(value, " is outside ", range_text(param.info)));
    edits_[name] = *parsed;
    return true;
  }
  return refuse(text("the script declares no parameter '", name, "'"));
}

void Params::publish() {
  const std::lock_guard lock(mutex_);
  published_ = params_;
}

}  // namespace lunagrad
