#pragma once
// Everything that can be done by keyboard: one table of commands, which the keys, the palette, the sheet of
// keys and the settings file's `keys` all read. A panel adds its own in Panel::add_commands. Drawing thread
// only.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

// A key with its modifiers. `key` is GLFW's number.
struct Chord {
  int key = 0;
  bool ctrl = false, shift = false, alt = false;
  bool operator==(const Chord&) const = default;
};
// "Ctrl+Shift+P", "F5", ",", "Ctrl+1", "Escape". Nothing for what names no key.
std::optional<Chord> parse_chord(std::string_view);
// Whether a text field has a use of its own for the chord: letters, and Ctrl with those that edit.
bool types_text(const Chord&);

struct Command {
  std::string name;  // "Step one operation": in the palette, and what the settings file calls it
  std::string key;   // "F11", "" for none
  std::string help;  // a sentence
  std::function<void()> run;
  std::function<bool()> enabled = {};  // none: always
  std::string panel = {};  // the key works only while the panel of this title has the focus; "" everywhere
  bool repeats = false;    // while the key is held
};

class Commands {
 public:
  void add(Command);
  // Keys of the settings file, by the name of the command; "" takes its key away. They count for what is
  // added later, too. The result names those that are no keys.
  std::vector<std::string> rebind(const std::map<std::string, std::string>& keys);

  const std::vector<Command>& all() const { return commands_; }
  const Command* find(std::string_view name) const;
  bool enabled(const Command& command) const { return !command.enabled || command.enabled(); }
  // Runs the command if it is enabled. False: there is none of that name, or it is not.
  bool run(std::string_view name) const;
  // The key of a command, for buttons and tooltips: "F5"; "" for none.
  std::string key_of(std::string_view name) const;
  // The command that a pressed chord means: one of the focused panel before one that works everywhere. Null
  // for none, and while somebody types for chords that are text.
  const Command* meant(const Chord&, std::string_view focused_panel, bool typing) const;
  // The commands that fit what was typed in haste, best first; all in their order for an empty string.
  std::vector<const Command*> matching(std::string_view typed) const;

 private:
  std::vector<Command> commands_;
  std::map<std::string, std::string> keys_;
};

}  // namespace lunagrad
