#pragma once
// A copy of the values that a script registered with lg.run.state, as plain bytes. It shares no memory with
// the tensors, so any thread may read it, and it outlives its session. snapshot_of() and kept_of() belong to
// the session's thread; everything else is pure.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/core/dtype.h"
#include "runtime/core/shape.h"

namespace lunagrad {

struct Kept;

struct Snapshot {
  // The elements of a tensor in row-major order. `on_device`: the tensor was not on the CPU.
  struct Array {
    DType dtype = DType::f32;
    Shape shape;
    bool on_device = false;
    std::string bytes;
  };
  using Table = std::vector<std::pair<Snapshot, Snapshot>>;
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Table> value;
};

// Copies; waits for the device of its tensors.
Snapshot snapshot_of(const Kept&);
// Makes new tensors: on the CPU, or on the context's device for tensors that were on a device.
Kept kept_of(const Snapshot&);

size_t bytes_of(const Snapshot&);  // bytes of its tensors and strings
// An entry of a table; null when there is none or `table` is not a table.
const Snapshot* entry(const Snapshot& table, const std::string& name);
void remove_entry(Snapshot& table, const std::string& name);

// A table's key as a part of a value's path.
std::string key_text(const Snapshot& key);
// The hash of each value that is not a table, by path: "model.fc1.weight".
using Hashes = std::map<std::string, uint64_t>;
Hashes hashes_of(const Snapshot&);

}  // namespace lunagrad
