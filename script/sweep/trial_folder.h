#pragma once
// The run folder of a claim, trials/TRIAL.ATTEMPT.WORKER: every claim has its own, so that a worker that was
// stalled and lost its claim, and the process that it started, write nowhere else. It begins as what the
// claim before left, or as a copy of that when its worker may still be alive. For one thread. Errors are of
// kind file.
#include <optional>
#include <string>

#include "script/sweep/legs.h"

namespace lunagrad::sweep {

// The path of the folder of `claim`, which exists if it has a checkpoint to go on from. `rest`: a claim that
// its worker gave back, whose folder nobody writes to.
std::string prepare_folder(const std::string& sweep, const Leg& claim, const std::optional<Leg>& rest);
// The folder of the claim of a trial that has ended gets the trial's name, and loses what only a takeover
// would need. Does nothing when another process did it.
void settle_folder(const std::string& sweep, const Leg& claim);
void remove_folder(const std::string& sweep, const Leg& claim);

}  // namespace lunagrad::sweep
