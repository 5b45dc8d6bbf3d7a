#pragma once
// What the optional parts of a build add. cmake/part.cmake writes the source from the list of parts in
// cmake/parts.cmake. Immutable; any thread.
#include <vector>

struct lua_State;

namespace lunagrad {

struct BundleReader;
struct SweepReader;

// What the built parts add to a host of scripts. Each part defines a function add_part_NAME(Parts&) that
// fills it.
struct Parts {
  // Add functions to lunagrad.core, a table at stack index `core`.
  std::vector<void (*)(lua_State*, int core)> bindings;
  const BundleReader* bundles = nullptr;  // script/run/bundle.h
  const SweepReader* sweeps = nullptr;    // script/run/sweep.h
};
const Parts& parts();

}  // namespace lunagrad
