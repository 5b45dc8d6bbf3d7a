#pragma once
// The table of all commands that the keyboard can run. The keys, the palette, the sheet of keys and the
// settings file's `keys` use it. A panel adds its own commands in Panel::add_commands, and sources of
// commands that depend on the state: one for each parameter, node, run. run() records a command of the table
// as an action. Drawing thread only.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/record/actions.h"

namespace lunagrad {

// A key with its modifiers. `key` is GLFW's number.
struct Chord {
  int key = 0;
  bool ctrl = false, shift = false, alt = false;
  bool operator==(const Chord&) const = default;
};
// "Ctrl+Shift+P", "F5", ",", "Ctrl+1", "Escape". Nothing if the text names no key.
std::optional<Chord> parse_chord(std::string_view);
// Whether a text field uses the chord itself: letters, and editing shortcuts with Ctrl.
bool types_text(const Chord&);

struct Command {
  std::string name;  // "Step one operation": in the palette and the settings file
  std::string key;   // "F11", "" for none
  std::string help;  // a sentence
  std::function<void()> run;
  std::function<bool()> enabled = {};  // empty: always
  std::string panel = {};  // the key works only while the panel of this title has the focus; "" everywhere
  bool repeats = false;    // while the key is held
  // True: the actions that the command calls are recorded, not the command itself, because it asks a question
  // or depends on the focus.
  bool composed = false;
  std::string synonyms = {};  // more words that find it; commands of the table have theirs in command_words.h
  bool named_by_file =
      false;  // the name says a script's file, not what it is: found like the words of `help`
};
using CommandPtr = std::shared_ptr<const Command>;

class Commands {
 public:
  explicit Commands(Actions& actions) : actions_(actions) {}  // `actions` must outlive this object

  void add(Command);
  void add_composed(Command);
  // Commands that the palette offers in the present state, for a text that is not empty. A source may leave
  // out what does not contain the typed words.
  using Source = std::function<void(std::string_view typed, std::vector<Command>& found)>;
  void add_source(Source);
  // Sets keys from the settings file, by the name of the command; "" removes its key. Also applies to
  // commands that are added later. Returns the texts that name no key.
  std::vector<std::string> rebind(const std::map<std::string, std::string>& keys);

  const std::vector<Command>& all() const { return commands_; }
  const Command* find(std::string_view name) const;
  bool enabled(const Command& command) const { return !command.enabled || command.enabled(); }
  // Runs the command if it is enabled. False: there is no such command, or it is disabled.
  bool run(std::string_view name) const;
  bool run(const Command&) const;
  // The key of a command, for buttons and tooltips: "F5"; "" for none.
  std::string key_of(std::string_view name) const;
  // The command of a pressed chord: the focused panel's command has priority over a global one. Null if the
  // chord has no command, and for chords that are text while the user types.
  const Command* meant(const Chord&, std::string_view focused_panel, bool typing) const;
  // What the typed words find (see name_search.h), best first: commands of the table and of the sources. For
  // an empty text all commands of the table, in its order.
  std::vector<CommandPtr> matching(std::string_view typed) const;

 private:
  Actions& actions_;
  std::vector<Command> commands_;
  std::vector<Source> sources_;
  std::map<std::string, std::string> keys_;
};

}  // namespace lunagrad
