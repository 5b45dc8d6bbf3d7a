#pragma once
// What the buttons of Runs do, for their tooltips and for the palette.

namespace lunagrad {

inline constexpr const char* kParallelHelp =
    "Parallel coordinates of the runs below: an axis for each setting in which they differ, and one "
    "for the best value of the metric, from blue for the best to orange. Click a line to select its "
    "run. Drag along axes to show only the runs with these values, in the table and in Curves; a click "
    "on the axis shows the others again.";
inline constexpr const char* kCompareHelp =
    "Compares settings and scripts of two runs: select them with click and Ctrl+click, or tick their "
    "boxes.";
inline constexpr const char* kOpenHelp =
    "Opens the selected run: shows its curves, and Run starts its script. Not while a run is active.";
inline constexpr const char* kNoteHelp = "Writes a note for the selected run.";
inline constexpr const char* kForkHelp =
    "Starts a new run after a step of the selected one, with other parameters or another script. With "
    "keyframes in its folder (lunagrad run --keyframes) it starts soon; without them the run is repeated "
    "up to that step.";
inline constexpr const char* kScriptHelp = "Shows the script of the selected run as it was then.";
inline constexpr const char* kExportHelp =
    "Exports the selected runs, or the ticked ones, else the run of the window, as one HTML page with "
    "curves, "
    "tapes, media, console and configuration.";
inline constexpr const char* kDeleteHelp = "Deletes the selected runs with their folders. Asks first.";

}  // namespace lunagrad
