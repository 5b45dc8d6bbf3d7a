#pragma once
// The run folder of a claim, trials/TRIAL.ATTEMPT.WORKER. Every claim has its own folder, so that a worker
// that stalled and lost its claim, and the process that it started, write into no other. It begins with the
// content of the previous claim's folder: moved, or copied when the previous worker may still be alive. For
// one thread. Errors are of kind file.
#include <optional>
#include <string>

#include "script/sweep/legs.h"

namespace lunagrad::sweep {

// Returns the path of the folder of `claim`. The folder exists if it has a checkpoint to continue from.
// `rest`: a claim that its worker gave back, whose folder is no longer written to.
std::string prepare_folder(const std::string& sweep, const Leg& claim, const std::optional<Leg>& rest);
// Renames the folder of the claim of an ended trial to the trial's name, and removes what only a takeover
// would need. Does nothing when another process did it.
void settle_folder(const std::string& sweep, const Leg& claim);
void remove_folder(const std::string& sweep, const Leg& claim);

}  // namespace lunagrad::sweep
