#pragma once
// Answers "Why?" about a node, a parameter or an alarm, from what a run records: the shown tape with its
// figures, the measured steps, the changes that the user made. What these do not tell, the trail says. Pure;
// any thread.
#include "ui/inspect/why_trail.h"

namespace lunagrad {

WhyTrail why(const WhyFacts&, const WhyQuestion&);

}  // namespace lunagrad
