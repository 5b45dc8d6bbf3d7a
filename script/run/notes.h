#pragma once
// The user's star and note on a run, which are the files "star" and "note.txt" in its folder, so that they
// move with it; and the removal of a run. No Lua; any thread. Errors are of kind file.
#include <string>
#include <string_view>

namespace lunagrad {

struct RunNotes {
  bool starred = false;
  std::string note;
};

RunNotes read_notes(const std::string& folder);
void set_star(const std::string& folder, bool);
void set_note(const std::string& folder, std::string_view note);  // an empty note removes the file
// Removes the folder with its content; Error if it is not a run's folder.
void remove_run(const std::string& folder);

}  // namespace lunagrad
