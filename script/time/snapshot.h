#pragma once
// A copy of what a script registered with lg.run.state, as plain bytes: it shares nothing with the tensors
// that it was copied from, so any thread may read it, and it outlives its session. snapshot_of() and
// kept_of() belong to the session's thread; everything else is pure.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/shape.h"

namespace lunagrad {

struct Kept;

struct Snapshot {
  // The elements of a tensor in row-major order. `on_device`: it was not on the CPU.
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
// New tensors: on the CPU, or on the context's device for those that were on a device.
Kept kept_of(const Snapshot&);

size_t bytes_of(const Snapshot&);  // of its tensors and strings
// The entry of a table, null when there is none or `table` is none.
const Snapshot* entry(const Snapshot& table, const std::string& name);
void remove_entry(Snapshot& table, const std::string& name);

// A table's key in the path of a value.
std::string key_text(const Snapshot& key);
// The hash of each value that is no table, by its path: "model.fc1.weight".
using Hashes = std::map<std::string, uint64_t>;
Hashes hashes_of(const Snapshot&);

}  // namespace lunagrad
