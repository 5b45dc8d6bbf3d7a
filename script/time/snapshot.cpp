#include "script/time/snapshot.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/io/checksum.h"
#include "runtime/ops.h"
#include "script/lua/kept.h"

namespace lunagrad {
namespace {

Snapshot::Array array_of(const Tensor& x) {
  const NoGrad off;
  const Tensor here = contiguous(x.device().is_cpu() ? x : to(x, cpu_device()));
  const auto* const bytes = static_cast<const char*>(here.raw());
  return {x.dtype(), x.shape(), !x.device().is_cpu(), std::string(bytes, here.nbytes())};
}

Tensor tensor_of(const Snapshot::Array& array) {
  Device& device = array.on_device ? *context().device : cpu_device();
  return Tensor::from_bytes(array.bytes.data(), array.bytes.size(), array.shape, array.dtype, device);
}

struct Copier {
  Snapshot operator()(const Tensor& value) const { return {array_of(value)}; }
  Snapshot operator()(const Kept::Table& table) const {
    Snapshot::Table copy;
    copy.reserve(table.size());
    for (const auto& [key, value] : table)
      copy.emplace_back(std::visit(*this, key.value), std::visit(*this, value.value));
    return {std::move(copy)};
  }
  template <class T>
  Snapshot operator()(const T& value) const {
    return {value};
  }
};

struct Restorer {
  Kept operator()(const Snapshot::Array& value) const { return {tensor_of(value)}; }
  Kept operator()(const Snapshot::Table& table) const {
    Kept::Table copy;
    copy.reserve(table.size());
    for (const auto& [key, value] : table)
      copy.emplace_back(std::visit(*this, key.value), std::visit(*this, value.value));
    return {std::move(copy)};
  }
  template <class T>
  Kept operator()(const T& value) const {
    return {value};
  }
};

uint64_t hash_of_leaf(const Snapshot& leaf) {
  const uint64_t kind = leaf.value.index();
  if (const auto* const array = std::get_if<Snapshot::Array>(&leaf.value)) {
    uint64_t seed = kind + 16 * uint64_t(array->dtype);
    for (const int64_t size : array->shape) seed = hash_of(&size, sizeof size, seed);
    return hash_of(array->bytes.data(), array->bytes.size(), seed);
  }
  if (const auto* const words = std::get_if<std::string>(&leaf.value))
    return hash_of(words->data(), words->size(), kind);
  if (const auto* const number = std::get_if<int64_t>(&leaf.value))
    return hash_of(number, sizeof *number, kind);
  if (const auto* const number = std::get_if<double>(&leaf.value))
    return hash_of(number, sizeof *number, kind);
  const bool* const truth = std::get_if<bool>(&leaf.value);
  return kind + 2 * uint64_t(truth && *truth);
}

void add_hashes(const Snapshot& value, const std::string& path, Hashes& hashes) {
  const auto* const table = std::get_if<Snapshot::Table>(&value.value);
  if (!table) {
    hashes[path] = hash_of_leaf(value);
    return;
  }
  for (const auto& [key, item] : *table)
    add_hashes(item, path.empty() ? key_text(key) : path + "." + key_text(key), hashes);
}

}  // namespace

std::string key_text(const Snapshot& key) {
  if (const auto* const name = std::get_if<std::string>(&key.value)) return *name;
  if (const auto* const number = std::get_if<int64_t>(&key.value)) return std::to_string(*number);
  if (const auto* const number = std::get_if<double>(&key.value)) return text(*number);
  if (const auto* const truth = std::get_if<bool>(&key.value)) return *truth ? "true" : "false";
  return "?";
}

Snapshot snapshot_of(const Kept& kept) { return std::visit(Copier(), kept.value); }
Kept kept_of(const Snapshot& snapshot) { return std::visit(Restorer(), snapshot.value); }

size_t bytes_of(const Snapshot& snapshot) {
  if (const auto* const array = std::get_if<Snapshot::Array>(&snapshot.value))
    return sizeof snapshot + array->bytes.size();
  if (const auto* const words = std::get_if<std::string>(&snapshot.value))
    return sizeof snapshot + words->size();
  size_t bytes = sizeof snapshot;
  if (const auto* const table = std::get_if<Snapshot::Table>(&snapshot.value))
    for (const auto& [key, value] : *table) bytes += bytes_of(key) + bytes_of(value);
  return bytes;
}

const Snapshot* entry(const Snapshot& table, const std::string& name) {
  const auto* const entries = std::get_if<Snapshot::Table>(&table.value);
  if (!entries) return nullptr;
  for (const auto& [key, value] : *entries)
    if (const auto* const word = std::get_if<std::string>(&key.value); word && *word == name) return &value;
  return nullptr;
}

void remove_entry(Snapshot& table, const std::string& name) {
  auto* const entries = std::get_if<Snapshot::Table>(&table.value);
  if (!entries) return;
  std::erase_if(*entries, [&](const auto& item) {
    const auto* const word = std::get_if<std::string>(&item.first.value);
    return word && *word == name;
  });
}

Hashes hashes_of(const Snapshot& snapshot) {
  Hashes hashes;
  add_hashes(snapshot, "", hashes);
  return hashes;
}

}  // namespace lunagrad
