#pragma once
// The alarms in the toolbar, in every layout: a badge with their number and the kind of the most severe, and
// the list that it opens, in which each alarm has its actions. Drawing thread only.
#include <string>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// "3 alarms: dead". "": no alarm is active, or the only one is the NaN that the toolbar shows by itself.
std::string alarm_badge(const Workbench&);
float alarm_badge_width(const std::string& badge);
void draw_alarm_badge(Workbench&, const std::string& badge);

}  // namespace lunagrad
