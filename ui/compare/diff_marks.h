#pragma once
// Shows the difference of two tapes (script/tape_diff/) on the second tape: a mark for each node, and the
// findings in words. Pure, except the colours of the kinds; any thread.
#include <string>

#include "script/tape_diff/difference.h"
#include "script/view/source_place.h"
#include "script/view/tape.h"
#include "ui/tape/node_marks.h"

namespace lunagrad {

// Nodes are found by their ids: on a tape of another step no node is marked.
NodeMarks diff_marks(const TapeSnapshot&, const TapeDiff&);

const char* finding_kind(const TapeFinding&);  // "value moved"
// "3 nodes removed, 0 added, 1 changed; 12 values and gradients moved, 2 on their own", or "equal". Without
// figures on both sides: "0 nodes removed, 0 added, 1 changed; values were not compared".
std::string diff_counts(const TapeDiff&);
// Where the finding's node was made; in the second tape if the node is there. Line 0: unknown.
SourcePlace place_of(const TapeDiff&, const TapeFinding&);
// The id of the finding's node in the second tape; -1 if the node is not there.
int64_t node_of(const TapeDiff&, const TapeFinding&);

}  // namespace lunagrad
