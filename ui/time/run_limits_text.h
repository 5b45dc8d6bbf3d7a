#pragma once
// The limits of a run in words, and the part of its memory that the window may use. Pure.
#include <cstddef>
#include <string>

#include "script/view/run.h"

namespace lunagrad {

// "sandbox, 256 MiB, 20 s", "limited: 20 s"; "" for a run without limits.
std::string limits_label(const RunOptions&);
// The same as sentences, with the folder that a script in the sandbox reads.
std::string limits_sentences(const RunOptions&, const std::string& script);
// Bytes of the run's tensors that the window may keep; they count against the run's memory limit.
size_t most_to_keep(const RunOptions&);

}  // namespace lunagrad
