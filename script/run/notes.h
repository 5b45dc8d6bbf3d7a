#pragma once
// What a person adds to a run: a star and a note, files "star" and "note.txt" in its folder, so that they go
// where the folder goes. And its removal. No Lua; any thread. Errors are of kind file.
#include <string>
#include <string_view>

namespace lunagrad {

struct RunNotes {
  bool starred = false;
  std::string note;
};

RunNotes read_notes(const std::string& folder);
void set_star(const std::string& folder, bool);
void set_note(const std::string& folder, std::string_view note);  // an empty one removes the file
// The folder with all that is in it; refuses what is not the folder of a run.
void remove_run(const std::string& folder);

}  // namespace lunagrad
