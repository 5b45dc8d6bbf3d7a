#pragma once
// The limits of a run in words, and what of its memory the window may take. Pure.
#include <cstddef>
#include <string>

#include "script/view/run.h"

namespace lunagrad {

// "sandbox, 256 MiB, 20 s", "limited: 20 s"; "" for a run without limits.
std::string limits_label(const RunOptions&);
// Sentences about the same, with the folder that a script in the sandbox reads.
std::string limits_sentences(const RunOptions&, const std::string& script);
// Bytes of tensors that the window may keep of the run, which count against its memory limit.
size_t most_to_keep(const RunOptions&);

}  // namespace lunagrad
