#pragma once
// Results that are not unique: the vectors of a singular value or of an eigenvalue have a free sign (phase),
// and those of equal values are any basis. Two sides are compared by the matrix that their factors give when
// they are multiplied. For the session's thread, with the tape off.
#include "script/inspect/kept_pass.h"

namespace lunagrad {

// The outputs of the node's call as they can be compared: of such a decomposition the values and, in place of
// the vectors, the product in the type of the vectors; of all others themselves.
TensorList comparable(const KeptNode&, const TensorList& outputs);

}  // namespace lunagrad
