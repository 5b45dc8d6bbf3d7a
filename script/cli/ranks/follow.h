#pragma once
// A rank of a window's runs, other than the window's: runs what the window orders, one script after another.
namespace lunagrad {

// Returns the exit code, when the window is closed. For the main thread.
int follow_window();

}  // namespace lunagrad
