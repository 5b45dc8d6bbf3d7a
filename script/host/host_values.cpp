#include "script/host/host_values.h"

#include <exception>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

bool refuse(std::string* why, std::string reason) {
  if (why) *why = std::move(reason);
  return false;
}

void note_tensors(const std::string& name, const SessionValue& value, std::map<std::string, Tensor>& found) {
  if (const Tensor* const x = std::get_if<Tensor>(&value.is)) found.emplace(name, *x);
  const auto* const table = std::get_if<std::shared_ptr<const SessionTable>>(&value.is);
  if (!table) return;
  for (size_t i = 0; i < (*table)->items.size(); ++i)
    note_tensors(text(name, "[", i + 1, "]"), (*table)->items[i], found);
  for (const auto& [key, field] : (*table)->fields) note_tensors(name + "." + key, field, found);
}

}  // namespace

bool HostValues::set(const std::string& name, const SessionValue& value, std::string* why) {
  try {
    if (const Tensor* const x = std::get_if<Tensor>(&value.is); x && !x->defined())
      fail("set: '", name, "' is an undefined tensor");
    if (depth_of(value) > kMostNestedTables)
      fail("set: the tables of '", name, "' are nested more than ", kMostNestedTables, " deep");
    SessionValue copy = copied(value);
    const std::lock_guard lock(mutex_);
    arriving_[name] = copy;
    published_[name] = {std::move(copy), -1};
    return true;
  } catch (const std::exception& error) {
    return refuse(why, error.what());
  }
}

SessionHost::Got HostValues::get(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(name);
  return found == published_.end() ? SessionHost::Got() : found->second;
}

bool HostValues::add_function(const std::string& name, HostFunction function, std::string* why) {
  if (!function) return refuse(why, text("add_function: '", name, "' is an empty function"));
  return add(name, std::make_shared<HostFunctionPtr::element_type>(std::move(function)), why);
}

bool HostValues::add_function(const std::string& name, HostValueFunction function, std::string* why) {
  if (!function) return refuse(why, text("add_function: '", name, "' is an empty function"));
  return add(name, std::make_shared<HostFunctionPtr::element_type>(std::move(function)), why);
}

bool HostValues::add(const std::string& name, HostFunctionPtr function, std::string* why) {
  const std::lock_guard lock(mutex_);
  if (ops_.count(name)) return refuse(why, text("add_function: '", name, "' is an op"));
  functions_[name] = std::move(function);
  return true;
}

bool HostValues::add_op(const Op& op, std::shared_ptr<const void> owner, std::string* why) {
  const std::string name = op.name ? op.name : "";
  try {
    if (const std::string fault = fault_of(op); !fault.empty()) fail("add_op: '", name, "': ", fault);
    SignedOp added;
    added.owner = std::move(owner);
    added.op = host_op(op);
    added.signature = std::make_unique<const Signature>(make_signature(*added.op));
    const std::lock_guard lock(mutex_);
    if (functions_.count(name)) fail("add_op: '", name, "' is a function");
    if (!ops_.emplace(name, std::move(added)).second) fail("add_op: '", name, "' is there already");
    return true;
  } catch (const std::exception& error) {
    return refuse(why, error.what());
  }
}

void HostValues::close() {
  const std::lock_guard lock(mutex_);
  functions_.clear();
}

void HostValues::exchange(int64_t step) {
  std::map<std::string, SessionValue> arrived, leaving;
  std::exception_ptr fault;
  for (const std::string& name : std::exchange(changed_, {})) try {
      const auto found = values_.find(name);
      leaving.emplace(name, found == values_.end() ? SessionValue() : copied(found->second));
    } catch (const std::exception&) {  // it is half-written, or there is no memory
      fault = std::current_exception();
    }
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arriving_);
    // A value that the program set in the meantime is newer than the script's value.
    for (auto& [name, value] : leaving)
      if (!arrived.count(name)) published_[name] = {std::move(value), step};
  }
  for (const auto& [name, value] : arrived) {
    if (value.nil())
      values_.erase(name);
    else
      values_[name] = with_tensors(value);
  }
  if (fault) std::rethrow_exception(fault);
}

void HostValues::drop() {
  values_.clear();
  changed_.clear();
}

const SessionValue* HostValues::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::map<std::string, Tensor> HostValues::tensors() const {
  std::map<std::string, Tensor> found;
  for (const auto& [name, value] : values_) note_tensors(name, value, found);
  return found;
}

void HostValues::put(const std::string& name, SessionValue value) {
  if (value.nil())
    values_.erase(name);
  else
    values_[name] = std::move(value);
  changed_.insert(name);
}

HostFunctionPtr HostValues::function(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const Signature* HostValues::op(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : found->second.signature.get();
}

std::string HostValues::names() const {
  std::set<std::string> all;
  for (const auto& [name, value] : values_) all.insert(name);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, function] : functions_) all.insert(name);
    for (const auto& [name, op] : ops_) all.insert(name);
  }
  std::string text;
  for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace lunagrad
