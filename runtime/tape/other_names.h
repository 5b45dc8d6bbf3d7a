#pragma once
// The further names of shared modules and parameters, for an inspector. A node records one name: of the
// parameter, or of the module by the path of the call. Names are interned (core/trace.h). Belongs to the
// calling thread, as the tape does.
#include <cstdint>
#include <vector>

namespace lunagrad {

void note_other_name(uint32_t name, uint32_t other);  // both are names of one thing
// All further names of the thing, oldest first.
std::vector<uint32_t> other_names(uint32_t name);
void forget_other_names();

}  // namespace lunagrad
