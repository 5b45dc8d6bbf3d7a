#include "script/host/host_values.h"

#include <cstring>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/ops.h"

namespace lunagrad {

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

void HostValues::set(const std::string& name, const Tensor& value) {
  if (!value.defined()) fail("Session::set: '", name, "' is an undefined tensor");
  Bytes bytes(value);
  const std::lock_guard lock(mutex_);
  arriving_[name] = bytes;
  published_[name] = std::move(bytes);
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

void HostValues::add_function(const std::string& name, HostFunction function) {
  auto shared = std::make_shared<const HostFunction>(std::move(function));
  const std::lock_guard lock(mutex_);
  functions_[name] = std::move(shared);
}

void HostValues::add_op(const Op& op) {
  auto signature = std::make_unique<const Signature>(make_signature(op));
  const std::lock_guard lock(mutex_);
  if (!ops_.emplace(op.name, std::move(signature)).second)
    fail("Session::add_op: ", op.name, " is there already");
}

void HostValues::exchange() {
  std::map<std::string, Bytes> arrived, leaving;
  for (const std::string& name : std::exchange(changed_, {})) leaving.emplace(name, Bytes(values_.at(name)));
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arriving_);
    // A value that the program set in the meantime is newer than the script's value.
    for (auto& [name, bytes] : leaving)
      if (!arrived.count(name)) published_[name] = std::move(bytes);
  }
  for (const auto& [name, bytes] : arrived) values_[name] = bytes.tensor();
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
  return found == ops_.end() ? nullptr : found->second.get();
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
