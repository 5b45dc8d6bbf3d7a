#pragma once
// Results that are not unique: the vectors of a singular value or an eigenvalue have a free sign (phase), and
// the vectors of equal values are any basis. Two sides are compared by the matrix that their factors multiply
// to. For the session's thread, with the tape off.
#include "script/inspect/kept_pass.h"

namespace lunagrad {

// The outputs of the node's call in a form that can be compared. Such a decomposition gives its values and,
// in place of the vectors, the product in the type of the vectors. Outputs of other calls are unchanged.
TensorList comparable(const KeptNode&, const TensorList& outputs);

}  // namespace lunagrad
