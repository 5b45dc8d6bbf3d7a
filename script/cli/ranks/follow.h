#pragma once
// A rank of a window's runs, other than the window's own rank: runs the scripts that the window orders, one
// after another.
namespace lunagrad {

// Returns the exit code when the window is closed. For the main thread.
int follow_window();

}  // namespace lunagrad
