#pragma once
// The views of the profiler: their buttons, and what each shows.

namespace lunagrad {

enum ProfilerTab { kOps, kLines, kModules, kGroups, kTimeline, kMemory, kOwners, kRanks };
inline constexpr const char* kProfilerTabs[] = {"Operations", "Lines",  "Modules", "Groups",
                                                "Timeline",   "Memory", "Owners",  "Ranks"};
inline constexpr const char* kProfilerTabHelp[] = {
    "Time of each operation. Click a row to highlight its nodes on the tape.",
    "Time of each source line, gradients included. Click a row to go to the line.",
    "Time of each module. Click a row to highlight its nodes on the tape.",
    "Calls that are computed in one pass over memory while nobody looks, and why others are not.",
    "Operations of the last steps over time, with threads, data loader and device. Wheel: zoom. Drag: pan. "
    "Double-click: all.",
    "Memory of the last step by purpose. Wheel: zoom. Drag: pan. Double-click: all.",
    "What outlives its step: the variables that hold graphs, parameters and large tensors, with bytes and "
    "advice.",
    "What each rank computes, sends and waits for. Wheel: zoom. Drag: pan. Double-click: all."};

}  // namespace lunagrad
