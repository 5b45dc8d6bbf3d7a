#pragma once
// Advice on what to write instead of a leak, in one sentence. Pure functions; any thread.
#include <string>

#include "script/leaks/owner_name.h"
#include "script/view/leaks.h"

namespace lunagrad {

struct HeldTape {
  const HeapPath& path;
  bool carries = false;     // its latest value is computed from its value before
  bool passed = false;      // a backward pass went through it
  bool one_number = false;  // the tensor has one element
};
std::string tape_advice(const HeldTape&);
std::string growth_advice(Leak::What, const HeapPath&);  // for parameters and tensors

}  // namespace lunagrad
