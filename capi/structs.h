#pragma once
// Structs that cross the border. The first member of each is its size in bytes as the host's header has it:
// an older host has fewer members, which are then zero. Pure.
#include <cstring>

#include "capi/wall.h"

namespace lunagrad::capi {

// A copy of a struct that the host filled in. `smallest` is the size of its first version. LG_BAD_STRUCT for
// a size that no version up to this library's has.
template <class T>
T read_struct(const T* given, size_t smallest, const char* name) {
  require(given, name);
  const uint32_t size = given->struct_size;
  if (size < smallest || size > sizeof(T)) [[unlikely]]
    refuse(LG_BAD_STRUCT, name, ": struct_size is ", size, ", and this library knows ", smallest, " to ",
           sizeof(T));
  T copy{};
  std::memcpy(&copy, given, size);
  return copy;
}

// Fills the members that the host's struct has. A newer host's further members become zero.
template <class T>
void write_struct(T* to, T from, size_t smallest, const char* name) {
  require(to, name);
  const uint32_t size = to->struct_size;
  if (size < smallest || size > 16 * sizeof(T)) [[unlikely]]
    refuse(LG_BAD_STRUCT, name, ": struct_size is ", size, ", and this library knows ", smallest, " to ",
           sizeof(T));
  from.struct_size = size;
  if (size > sizeof(T)) std::memset(reinterpret_cast<char*>(to) + sizeof(T), 0, size - sizeof(T));
  std::memcpy(static_cast<void*>(to), &from, size < sizeof(T) ? size : sizeof(T));
}

}  // namespace lunagrad::capi
