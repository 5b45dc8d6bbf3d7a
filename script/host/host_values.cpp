#include "script/host/host_values.h"

#include <cstring>
#include <exception>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

bool refuse(std::string* why, std::string reason) {
  if (why) *why = std::move(reason);
  return false;
}

}  // namespace

HostValues::Bytes::Bytes(const Tensor& x) : shape(x.shape()), dtype(x.dtype()) {
  const NoGrad off;
  const Tensor dense = contiguous(to(x.detach(), cpu_device()));
  bytes.assign(static_cast<const char*>(dense.raw()), dense.nbytes());
}

Tensor HostValues::Bytes::tensor() const {
  Tensor made = Tensor::empty(shape, dtype);
  if (!bytes.empty()) std::memcpy(made.raw(), bytes.data(), bytes.size());
  return made;
}

bool HostValues::set(const std::string& name, const Tensor& value, std::string* why) {
  try {
    if (!value.defined()) fail("set: '", name, "' is an undefined tensor");
    Bytes bytes(value);
    const std::lock_guard lock(mutex_);
    arriving_[name] = bytes;
    published_[name] = std::move(bytes);
    return true;
  } catch (const std::exception& error) {
    return refuse(why, error.what());
  }
}

Tensor HostValues::get(const std::string& name) const {
  Bytes bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto found = published_.find(name);
    if (found == published_.end()) return {};
    bytes = found->second;
  }
  return bytes.tensor();
}

bool HostValues::add_function(const std::string& name, HostFunction function, std::string* why) {
  if (!function) return refuse(why, text("add_function: '", name, "' is an empty function"));
  auto shared = std::make_shared<const HostFunction>(std::move(function));
  const std::lock_guard lock(mutex_);
  if (ops_.count(name)) return refuse(why, text("add_function: '", name, "' is an op"));
  functions_[name] = std::move(shared);
  return true;
}

bool HostValues::add_op(const Op& op, std::string* why) {
  const std::string name = op.name ? op.name : "";
  try {
    if (const std::string fault = fault_of(op); !fault.empty()) fail("add_op: '", name, "': ", fault);
    SignedOp added;
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

void HostValues::exchange() {
  std::map<std::string, Bytes> arrived, leaving;
  std::exception_ptr fault;
  for (const std::string& name : std::exchange(changed_, {})) try {
      leaving.emplace(name, Bytes(values_.at(name)));
    } catch (const std::exception&) {  // it is half-written, or there is no memory
      fault = std::current_exception();
    }
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arriving_);
    // A value that the program set in the meantime is newer than the script's value.
    for (auto& [name, bytes] : leaving)
      if (!arrived.count(name)) published_[name] = std::move(bytes);
  }
  for (const auto& [name, bytes] : arrived) values_[name] = bytes.tensor();
  if (fault) std::rethrow_exception(fault);
}

void HostValues::drop() {
  values_.clear();
  changed_.clear();
}

const Tensor* HostValues::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void HostValues::put(const std::string& name, Tensor value) {
  values_[name] = std::move(value);
  changed_.insert(name);
}

std::shared_ptr<const HostFunction> HostValues::function(const std::string& name) const {
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
