#include <GLFW/glfw3.h>
#include <doctest/doctest.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "folders.h"
#include "runtime/io/atomic_file.h"
#include "ui/actions/commands.h"
#include "ui/actions/layout.h"
#include "ui/actions/settings.h"
#include "ui/app/alive_marker.h"
#include "ui/app/open_run.h"
#include "ui/base/fuzzy.h"
#include "ui/window/theme.h"

using namespace lunagrad;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/lunagrad-ui-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

const std::vector<PanelPlace> kPanels = {{"Curves", Region::upper_left},
                                         {"Console", Region::lower_left},
                                         {"Tape", Region::upper_right},
                                         {"Inspector", Region::lower_right},
                                         {"Of tomorrow", Region::lower_right}};

size_t count_of(const PanelLayout& layout) {
  size_t count = 0;
  for (const auto& tabs : layout.tabs) count += tabs.size();
  return count;
}

Commands two_commands(Actions& actions, std::string& ran) {
  Commands commands(actions);
  commands.add({"Run or continue", "F5", "", [&ran] { ran += 'r'; }});
  commands.add({"Fit", "F", "", [&ran] { ran += 'f'; }, {}, "Curves"});
  commands.add({"Copy", "Ctrl+C", "", [&ran] { ran += 'c'; }, [] { return false; }});
  return commands;
}

}  // namespace

TEST_CASE("a raised panel comes to the front without the focus, but never in front of the panel beside it") {
  PanelLayout layout = preset_layout("Write", kPanels);
  layout.show("Tape");
  const auto front = [&] { return layout.front[size_t(layout.region_of("Inspector"))]; };
  layout.move("Of tomorrow", layout.region_of("Inspector"));
  CHECK(front() == "Of tomorrow");
  layout.raise("Inspector", "Of tomorrow");
  CHECK(front() == "Of tomorrow");
  layout.raise("Inspector", "Curves");
  CHECK(front() == "Inspector");
  CHECK(layout.focused == "Tape");
}

TEST_CASE("every preset places each panel once, unknown ones in their default regions") {
  for (const char* name : kPresets) {
    const PanelLayout layout = preset_layout(name, kPanels);
    CHECK(count_of(layout) == kPanels.size());
    for (const PanelPlace& panel : kPanels) CHECK(layout.contains(panel.title));
    CHECK(layout.region_of("Of tomorrow") == Region::lower_right);
    for (size_t region = 0; region < kRegions; ++region)
      CHECK(layout.front[region] == (layout.tabs[region].empty() ? "" : layout.tabs[region].front()));
  }
  CHECK(preset_layout("Write", kPanels).region_of("Tape") !=
        preset_layout("Watch", kPanels).region_of("Tape"));
}

TEST_CASE("the first start shows tape, inspector, editor and curves, and no groups; a kept layout stays") {
  std::vector<PanelPlace> panels = kPanels;
  for (const char* title : {"Editor", "Runs", "Gradients", "Parameters", "Examples and help"})
    panels.push_back({title, Region::upper_left});
  const Settings first;
  CHECK_FALSE(first.has_layout);
  CHECK_FALSE(first.tape_groups);
  const PanelLayout layout = preset_layout(first.preset, panels);
  for (const char* title : {"Tape", "Inspector", "Editor", "Curves"})
    CHECK(layout.front[size_t(layout.region_of(title))] == title);
  for (const char* title : {"Runs", "Gradients", "Parameters"})
    CHECK(layout.region_of(title) != layout.region_of("Curves"));
  CHECK(layout.region_of("Examples and help") != layout.region_of("Tape"));
  Folder folder;
  Settings kept;
  kept.layout = preset_layout("Watch", panels);
  kept.preset = "Watch";
  kept.tape_groups = true;
  write_file(settings_file(folder.path), settings_text(kept));
  std::string note;
  const Settings read = read_settings(folder.path, note);
  CHECK(read.has_layout);
  CHECK(read.layout == kept.layout);
  CHECK(read.preset == "Watch");
  CHECK(read.tape_groups);
}

TEST_CASE(
    "a panel moves before and after others and to other regions; the region it leaves shows another one") {
  PanelLayout layout = preset_layout("Watch", kPanels);
  const auto& lower = layout.tabs[size_t(Region::lower_right)];
  CHECK(lower == std::vector<std::string>{"Inspector", "Of tomorrow"});
  layout.move("Inspector", Region::lower_right, 2);
  CHECK(lower == std::vector<std::string>{"Of tomorrow", "Inspector"});
  layout.move("Inspector", Region::lower_right, 0);
  CHECK(lower == std::vector<std::string>{"Inspector", "Of tomorrow"});
  layout.move("Inspector", Region::upper_left);
  CHECK(layout.tabs[0].back() == "Inspector");
  CHECK(layout.front[0] == "Inspector");
  CHECK(layout.front[size_t(Region::lower_right)] == "Of tomorrow");
  layout.move("Of tomorrow", Region::upper_left, 0);
  CHECK(layout.tabs[0].front() == "Of tomorrow");
  CHECK(lower.empty());
  CHECK(layout.front[size_t(Region::lower_right)] == "");
  CHECK(count_of(layout) == kPanels.size());
}

TEST_CASE("showing a panel replaces another one that fills the window") {
  PanelLayout layout = preset_layout("Watch", kPanels);
  layout.toggle_maximized("Tape");
  layout.show("Console");
  CHECK(layout.maximized == "Console");
  CHECK(layout.focused == "Console");
  layout.toggle_maximized("Console");
  CHECK(layout.maximized == "");
  layout.show("no such panel");
  CHECK(layout.focused == "Console");
}

TEST_CASE("settings survive a round trip") {
  Folder folder;
  Settings settings;
  settings.layout = preset_layout("Inspect", kPanels);
  settings.layout.columns = 0.3125f;
  settings.layout.maximized = "Tape";
  settings.has_layout = true;
  settings.presets["mine"] = preset_layout("Write", kPanels);
  settings.preset = "mine";
  settings.keyframe_mebibytes = 64;
  settings.width = 1600;
  settings.dark = false;
  settings.scale = 1.5f;
  settings.keys["Pause"] = "F7";
  settings.remember("/tmp/a.lua");
  settings.remember("/tmp/b.lua");
  settings.remember("/tmp/a.lua");
  CHECK(settings.recent == std::vector<std::string>{"/tmp/a.lua", "/tmp/b.lua"});
  SettingsKeeper keeper(folder.path + "/deep/state");
  CHECK(keeper.keep(settings) == "");
  CHECK(keeper.finish(settings) == "");
  std::string note;
  CHECK(read_settings(folder.path + "/deep/state", note) == settings);
  CHECK(note == "");
}

TEST_CASE("damaged settings are ignored with a note, for every kind of damage") {
  Folder folder;
  Settings whole;
  whole.layout = preset_layout("Watch", kPanels);
  const std::string text = settings_text(whole);
  std::string note;
  CHECK(read_settings(folder.path, note) == Settings());
  CHECK(note == "");
  for (size_t length : {size_t(0), size_t(1), text.size() / 3, text.size() / 2, text.size() - 3}) {
    write_file(settings_file(folder.path), text.substr(0, length));
    note.clear();
    CHECK(read_settings(folder.path, note) == Settings());
    CHECK_MESSAGE(note.find("workbench.json") != note.npos, length);
  }
  for (const char* wrong : {"[]", "3", "{\"layout\": 3}", "{\"recent\": {\"a\": 1}}", "{\"keys\": [1]}",
                            "{\"window\": {\"width\": \"wide\"}}", "{\"layout\": {\"regions\": {}}}"}) {
    write_file(settings_file(folder.path), wrong);
    note.clear();
    CHECK(read_settings(folder.path, note) == Settings());
    CHECK_MESSAGE(note != "", wrong);
  }
  // Numbers out of range are clamped; a panel that is named twice keeps its first place.
  std::string wild = text;
  wild.replace(wild.find("1280"), 4, "-7");
  wild.replace(wild.find("\"Tape\""), 6, "\"Curves\"");
  write_file(settings_file(folder.path), wild);
  note.clear();
  const Settings read = read_settings(folder.path, note);
  CHECK(note == "");
  CHECK(read.width == 200);
  CHECK(count_of(read.layout) == kPanels.size() - 1);
}

TEST_CASE("settings that cannot be written are reported once") {
  Folder folder;
  write_file(folder.path + "/file", "");
  SettingsKeeper keeper(folder.path + "/file/state");
  CHECK(keeper.finish(Settings()).find("cannot be kept") != std::string::npos);
  SettingsKeeper nowhere("");
  CHECK(nowhere.finish(Settings()) == "");
}

TEST_CASE("what a window notes about its run is read by the next one; a damaged note is none") {
  OpenRun run{"/a b/train.lua", "/a b/runs/1", {}};
  run.options.arguments = {"one", "two words", ""};
  run.options.set = {{"lr", "0.1"}};
  run.options.device = "vulkan";
  run.options.seed = UINT64_MAX;
  run.options.steps = 5;
  const std::string text = text_of(run);
  const OpenRun read = open_run_from(text);
  CHECK(read.script == run.script);
  CHECK(read.folder == run.folder);
  CHECK(read.options.arguments == run.options.arguments);
  CHECK(read.options.set == run.options.set);
  CHECK(read.options.device == "vulkan");
  CHECK(read.options.seed == UINT64_MAX);
  CHECK(read.options.steps == 5);
  CHECK(open_run_from(text.substr(0, text.size() / 2)).script == "");
  CHECK(open_run_from("/an/older/note.lua").script == "");
}

TEST_CASE("the next start finds a crashed window, not a running or closed one") {
  Folder folder;
  {
    AliveMarker first(folder.path);
    first.set_text("/a.lua");
    CHECK_FALSE(first.crashed().has_value());
    const pid_t child = fork();
    if (child == 0) {
      AliveMarker second(folder.path);
      second.set_text("/b.lua");
      _exit(second.crashed() ? 1 : 0);  // no destructor runs, as in a crash
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
    AliveMarker third(folder.path);
    REQUIRE(third.crashed().has_value());
    CHECK(*third.crashed() == "/b.lua");
  }
  CHECK_FALSE(AliveMarker(folder.path).crashed().has_value());
  CHECK(std::filesystem::is_empty(folder.path + "/running"));
}

TEST_CASE("chords are parsed, and unknown keys are refused") {
  CHECK(parse_chord("F5") == Chord{GLFW_KEY_F5, false, false, false});
  CHECK(parse_chord("Ctrl+Shift+P") == Chord{GLFW_KEY_P, true, true, false});
  CHECK(parse_chord("Alt+Left") == Chord{GLFW_KEY_LEFT, false, false, true});
  CHECK(parse_chord("Ctrl+1") == Chord{GLFW_KEY_1, true, false, false});
  CHECK(parse_chord(",") == Chord{GLFW_KEY_COMMA, false, false, false});
  for (const char* wrong : {"", "Ctrl+", "F0", "F26", "p", "Hyper+P", "Ctrl+Ä", "FF"})
    CHECK_MESSAGE(!parse_chord(wrong), wrong);
  CHECK(types_text(*parse_chord("X")));
  CHECK(types_text(*parse_chord("Ctrl+C")));
  CHECK(types_text(*parse_chord("Ctrl+Left")));
  CHECK_FALSE(types_text(*parse_chord("Ctrl+P")));
  CHECK_FALSE(types_text(*parse_chord("Ctrl+Tab")));
  CHECK_FALSE(types_text(*parse_chord("Shift+F5")));
}

TEST_CASE("a key runs its command: the focused panel's first, and no letter while the user types") {
  std::string ran;
  Actions actions;
  Commands commands = two_commands(actions, ran);
  commands.add({"Follow", "F", "", [&ran] { ran += 'o'; }});
  const auto meant = [&](const char* key, const char* panel, bool typing) {
    const Command* command = commands.meant(*parse_chord(key), panel, typing);
    return command ? command->name : "";
  };
  CHECK(meant("F5", "", true) == "Run or continue");
  CHECK(meant("F", "Curves", false) == "Fit");
  CHECK(meant("F", "Tape", false) == "Follow");
  CHECK(meant("F", "Curves", true) == "");
  CHECK(meant("Ctrl+C", "", true) == "");
  CHECK(meant("F6", "", false) == "");
  CHECK(commands.run("Fit"));
  CHECK_FALSE(commands.run("Copy"));  // is not enabled
  CHECK_FALSE(commands.run("Fly"));
  CHECK(ran == "f");
}

TEST_CASE("the settings rebind commands, including later ones, and unknown keys are reported") {
  std::string ran;
  Actions actions;
  Commands commands = two_commands(actions, ran);
  const auto wrong =
      commands.rebind({{"Run or continue", "F7"}, {"Fit", ""}, {"Copy", "Hyper+X"}, {"Later", "F9"}});
  CHECK(wrong == std::vector<std::string>{"Hyper+X"});
  commands.add({"Later", "F10", "", [] {}});
  CHECK(commands.key_of("Run or continue") == "F7");
  CHECK(commands.key_of("Fit") == "");
  CHECK(commands.key_of("Copy") == "Ctrl+C");
  CHECK(commands.key_of("Later") == "F9");
  CHECK(commands.meant(*parse_chord("F5"), "", false) == nullptr);
}

TEST_CASE("abbreviations match names: letters in order, starts of words first") {
  CHECK_FALSE(fuzzy_score("xyz", "Run or continue"));
  CHECK_FALSE(fuzzy_score("nur", "Run"));
  CHECK(fuzzy_score("", "Run"));
  CHECK(*fuzzy_score("so", "Step one operation") > *fuzzy_score("so", "Reason"));
  CHECK(*fuzzy_score("run", "Run or continue") > *fuzzy_score("run", "Clean run to the end"));
  CHECK(*fuzzy_score("stop", "Stop") > *fuzzy_score("stop", "Step one operation"));
  CHECK(*fuzzy_score("PRINT", "print") == *fuzzy_score("print", "print"));
  std::string ran;
  Actions actions;
  Commands commands = two_commands(actions, ran);
  REQUIRE(commands.matching("roc").size() == 1);
  CHECK(commands.matching("roc")[0]->name == "Run or continue");
  CHECK(commands.matching("").size() == 3);
}

namespace {

// The non-ASCII characters in a source's strings, written directly or as \\x escapes.
std::set<uint32_t> characters_of_strings(const std::string& source) {
  std::string bytes;
  bool inside = false;
  for (size_t i = 0; i < source.size(); ++i) {
    if (!inside && source.compare(i, 2, "//") == 0) {
      i = std::min(source.find('\n', i), source.size());
    } else if (!inside && source[i] == '\'') {
      i = std::min(source.find('\'', i + (source[i + 1] == '\\' ? 3 : 1)),
                   source.size());  // a character literal
    } else if (source[i] == '"') {
      inside = !inside;
    } else if (inside && source[i] == '\\' && source[i + 1] == 'x') {
      bytes += char(std::stoi(source.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (inside && source[i] == '\\') {
      ++i;
    } else if (inside) {
      bytes += source[i];
    }
  }
  std::set<uint32_t> found;
  for (const char *at = bytes.data(), *end = at + bytes.size(); at < end;) {
    unsigned c = 0;
    at += std::max(ImTextCharFromUtf8(&c, at, end), 1);
    if (c >= 0x80 && c != 0xfffd) found.insert(c);
  }
  return found;
}

}  // namespace

TEST_CASE("the fonts have every character that the window's own sentences use") {
  CHECK(characters_of_strings("// \"×\"\n'\"' \"a\\xe2\\x96\\xb6\" '\\'' \"…\"") ==
        std::set<uint32_t>{0x25b6, 0x2026});
  std::set<uint32_t> used;
  for (const auto& file : std::filesystem::recursive_directory_iterator(LUNAGRAD_SOURCE_DIR "/ui"))
    if (file.path().extension() == ".cpp" || file.path().extension() == ".h")
      used.merge(characters_of_strings(read_file(file.path().string())));
  CHECK(used.contains(0x25b8));  // the sources were found: the mark of collapsed text is among them
  ImGuiContext* imgui = ImGui::CreateContext();
  load_fonts(1);
  for (const uint32_t c : used) {
    CHECK_MESSAGE(fonts().body->FindGlyphNoFallback(ImWchar(c)), "body ", std::hex, c);
    CHECK_MESSAGE(fonts().mono->FindGlyphNoFallback(ImWchar(c)), "mono ", std::hex, c);
  }
  for (const uint32_t c : {0xd7u, 0x2026u})  // names on the tape: blocks.0 … 11 ×12
    for (const ImFont* font : {fonts().bold, fonts().plain_sizes[0], fonts().bold_sizes[2]})
      CHECK(font->FindGlyphNoFallback(ImWchar(c)));
  ImGui::DestroyContext(imgui);
}

TEST_CASE("text has a contrast of at least 4.5 on every background in both themes") {
  CHECK(contrast(IM_COL32(0, 0, 0, 255), IM_COL32_WHITE) == doctest::Approx(21));
  CHECK(contrast(IM_COL32(119, 119, 119, 255), IM_COL32_WHITE) == doctest::Approx(4.48).epsilon(0.001));
  ImGuiContext* imgui = ImGui::CreateContext();
  for (const bool dark : {true, false}) {
    set_theme(dark);
    const Theme& t = theme();
    for (const ImU32 behind : {t.background, t.panel, t.raised, t.canvas})
      for (const ImU32 text : {t.text, t.muted, t.faint, t.accent, t.good, t.warning, t.bad})
        CHECK_MESSAGE(contrast(text, behind) >= 4.5, dark, " ", std::hex, text, " on ", behind);
    for (const ImU32 line : t.series) CHECK_MESSAGE(contrast(line, t.panel) >= 3, dark, " ", std::hex, line);
    for (const ImU32 behind : {t.panel, t.canvas})  // op names are written in these colours
      for (const ImU32 op : t.family)
        CHECK_MESSAGE(contrast(op, behind) >= 4.5, dark, " ", std::hex, op, " on ", behind);
  }
  ImGui::DestroyContext(imgui);
}
