#include "ui/app/drive.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cfloat>
#include <cstdio>
#include <fstream>
#include <set>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "ui/app/drive_actions.h"
#include "ui/app/drive_keys.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

using Clock = std::chrono::steady_clock;
using Values = DriveScript::Values;
using Functions = std::map<std::string, DriveScript::Function>;

constexpr double kWaitPatience = 60;
constexpr size_t kMostShown = 20;

template <class T>
const T* argument(const Values& values, size_t i) {
  return i < values.size() ? std::get_if<T>(&values[i]) : nullptr;
}

const std::string& text_argument(const Values& values, size_t i) {
  const auto* text = argument<std::string>(values, i);
  if (!text) fail("argument ", i + 1, " must be a string");
  return *text;
}

double number_argument(const Values& values, size_t i) {
  const auto* number = argument<double>(values, i);
  if (!number) fail("argument ", i + 1, " must be a number");
  return *number;
}

// The index of the first number in a call (NAME, [TEXT,] numbers).
size_t numbers_from(const Values& values) { return argument<std::string>(values, 1) ? 2 : 1; }

Clock::time_point from_now(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

DriveScript::Poll at_once(Values results = {}) {
  return [results] { return std::optional(results); };
}

double memory_of(const std::string& kind) {
  if (kind == "heap") {
    const struct mallinfo2 info = mallinfo2();
    return double(info.uordblks) + double(info.hblkhd);
  }
  if (kind != "resident") fail("memory: no kind \"", kind, "\"; there are resident and heap");
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * double(sysconf(_SC_PAGESIZE));
}

void hold(const KeyPress& press, bool down) { play_modifiers(press.ctrl, press.shift, press.alt, down); }

}  // namespace

Drive::Drive(const std::string& path, const std::vector<std::string>& arguments, Window& window,
             Workbench& bench)
    : window_(window), bench_(bench), script_(path, arguments, functions()) {}

void Drive::inject() {
  if (!steps_.empty()) {
    steps_.front()();
    steps_.pop_front();
  }
  if (real_input_) return;
  play_mouse(mouse_);
  for (int button = 0; button < 3; ++button) play_button(button, down_[button]);
}

bool Drive::shows_frame() {
  constexpr int kShown = 4;
  return real_input_ || !window_.presenter().software() || frames_++ % kShown == 0;
}

bool Drive::after_frame(const Description& shown) {
  shown_ = &shown;
  const bool ended = script_.resume();
  shown_ = nullptr;
  if (!script_.error().empty()) {
    std::fprintf(stderr, "drive: %s\n", script_.error().c_str());
    failed_ = true;
  }
  return ended || quit_;
}

Functions Drive::functions() {
  Functions all;
  add_checks(all);
  add_input(all);
  add_window(all);
  add_action_functions(all, bench_);
  return all;
}

Drive::Target Drive::target(const Values& values) const {
  const auto* text = argument<std::string>(values, 1);
  return {text_argument(values, 0), text ? *text : ""};
}

const Description::Item* Drive::find(const Target& target) const {
  for (const Description::Item& item : shown_->items())
    if (item.name == target.name && item.text.find(target.text) != item.text.npos) return &item;
  return nullptr;
}

std::string Drive::instead(const Target& target) const {
  std::set<std::string> texts, names;
  for (const Description::Item& item : shown_->items()) {
    names.insert(item.name);
    if (item.name == target.name) texts.insert('"' + item.text + '"');
  }
  const std::set<std::string>& list = texts.empty() ? names : texts;
  std::string said = texts.empty() ? "no " + target.name + " is shown, but" : target.name + " shows";
  size_t count = 0;
  for (const std::string& entry : list) {
    if (++count > kMostShown && !texts.empty())
      return said + " and " + std::to_string(list.size()) + " in all";
    said += " " + entry;
  }
  return said;
}

ImVec2 Drive::middle(const Target& target) const {
  const Description::Item* item = find(target);
  if (!item) fail(target.name, " \"", target.text, "\" is not shown: ", instead(target));
  const ImVec2 at{(item->min.x + item->max.x) / 2, (item->min.y + item->max.y) / 2};
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (at.x < 0 || at.y < 0 || at.x >= size.x || at.y >= size.y)
    fail(target.name, " \"", item->text, "\" lies outside the window, at ", at.x, ", ", at.y);
  return at;
}

void Drive::next_frame(std::function<void()> act) { steps_.push_back(std::move(act)); }

DriveScript::Poll Drive::played() const {
  return [this] { return steps_.empty() ? std::optional(Values()) : std::nullopt; };
}

void Drive::add_checks(Functions& all) {
  all["wait"] = [this](const Values& values) -> Poll {
    const double patience = values.size() > 2 ? number_argument(values, 2) : kWaitPatience;
    return [this, wanted = target(values), patience, until = from_now(patience)]() -> std::optional<Values> {
      if (find(wanted)) return Values();
      if (Clock::now() < until) return std::nullopt;
      fail(wanted.name, " \"", wanted.text, "\" was not shown within ", patience, " s: ", instead(wanted));
    };
  };
  all["expect"] = [this](const Values& values) {
    const Target wanted = target(values);
    if (!find(wanted)) fail(wanted.name, " \"", wanted.text, "\" is not shown: ", instead(wanted));
    return at_once();
  };
  all["absent"] = [this](const Values& values) {
    if (const Description::Item* item = find(target(values)))
      fail(item->name, " is shown with \"", item->text, '"');
    return at_once();
  };
  all["texts"] = [this](const Values& values) {
    std::vector<std::string> texts;
    for (const Description::Item& item : shown_->items())
      if (item.name == text_argument(values, 0)) texts.push_back(item.text);
    return at_once({texts});
  };
  all["rect"] = [this](const Values& values) {
    const Target wanted = target(values);
    const Description::Item* item = find(wanted);
    if (!item) fail(wanted.name, " \"", wanted.text, "\" is not shown: ", instead(wanted));
    return at_once({double(item->min.x), double(item->min.y), double(item->max.x - item->min.x),
                    double(item->max.y - item->min.y)});
  };
}

void Drive::press_button(ImGuiMouseButton button, bool down) {
  next_frame([this, button, down] { down_[button] = down; });
}

DriveScript::Poll Drive::click(const Values& values, ImGuiMouseButton button, int times) {
  const ImVec2 at = middle(target(values));
  const auto* held = argument<std::string>(values, 2);
  // For modifiers alone any key completes the name.
  const auto keys = key_press(held ? *held + "+A" : "A");
  if (!keys) fail("no such keys to hold: \"", *held, '"');
  // Sets the clock so that two single clicks are never taken for a double click, and a double click always is
  // one.
  const float interval = ImGui::GetIO().MouseDoubleClickTime;
  next_frame([this, at] { mouse_ = at; });
  next_frame([keys] {
    hold(*keys, true);
    ImGui::GetIO().MouseDoubleClickTime = 0;
  });
  for (int i = 0; i < times; ++i) {
    press_button(button, true);
    press_button(button, false);
    next_frame([] { ImGui::GetIO().MouseDoubleClickTime = 60; });
  }
  next_frame([keys, interval] {
    hold(*keys, false);
    ImGui::GetIO().MouseDoubleClickTime = interval;
  });
  return played();
}

void Drive::add_input(Functions& all) {
  all["click"] = [this](const Values& values) { return click(values, ImGuiMouseButton_Left, 1); };
  all["right_click"] = [this](const Values& values) { return click(values, ImGuiMouseButton_Right, 1); };
  all["double_click"] = [this](const Values& values) { return click(values, ImGuiMouseButton_Left, 2); };
  all["hover"] = [this](const Values& values) {
    const ImVec2 at = values.empty() ? ImVec2(-FLT_MAX, -FLT_MAX) : middle(target(values));
    next_frame([this, at] { mouse_ = at; });
    for (int i = 0; i < 3; ++i) next_frame();
    return played();
  };
  all["drag"] = [this](const Values& values) {
    constexpr int kMoves = 4;
    const ImVec2 from = middle(target(values));
    const size_t first = numbers_from(values);
    const auto dx = float(number_argument(values, first)), dy = float(number_argument(values, first + 1));
    next_frame([this, from] { mouse_ = from; });
    next_frame();
    press_button(ImGuiMouseButton_Left, true);
    for (int i = 1; i <= kMoves; ++i) {
      const float part = float(i) / kMoves;
      next_frame([this, at = ImVec2(from.x + dx * part, from.y + dy * part)] { mouse_ = at; });
    }
    press_button(ImGuiMouseButton_Left, false);
    for (int i = 0; i < 2; ++i) next_frame();
    return played();
  };
  all["wheel"] = [this](const Values& values) {
    const auto notches = float(number_argument(values, numbers_from(values)));
    next_frame([this, at = middle(target(values))] { mouse_ = at; });
    next_frame();
    next_frame([notches] { play_wheel(notches); });
    for (int i = 0; i < 2; ++i) next_frame();
    return played();
  };
  all["key"] = [this](const Values& values) {
    const auto press = key_press(text_argument(values, 0));
    if (!press) fail("no such key: \"", text_argument(values, 0), '"');
    next_frame([press] {
      hold(*press, true);
      play_key(press->key, true);
    });
    next_frame([press] {
      play_key(press->key, false);
      hold(*press, false);
    });
    next_frame();
    return played();
  };
  all["type"] = [this](const Values& values) {
    next_frame([typed = text_argument(values, 0)] { ImGui::GetIO().AddInputCharactersUTF8(typed.c_str()); });
    for (int i = 0; i < 2; ++i) next_frame();
    return played();
  };
  all["real_input"] = [this](const Values&) {
    real_input_ = true;
    return at_once();
  };
}

void Drive::add_window(Functions& all) {
  all["frames"] = [](const Values& values) -> Poll {
    return [left = number_argument(values, 0)]() mutable {
      return left-- <= 0 ? std::optional(Values()) : std::nullopt;
    };
  };
  all["frame_rate"] = [this](const Values& values) {
    const double rate = number_argument(values, 0);
    frame_seconds_ = rate > 0 ? 1 / rate : 0;
    return at_once();
  };
  all["seconds"] = [](const Values& values) -> Poll {
    return [until = from_now(number_argument(values, 0))] {
      return Clock::now() >= until ? std::optional(Values()) : std::nullopt;
    };
  };
  all["resize"] = [this](const Values& values) {
    window_.resize(int(number_argument(values, 0)), int(number_argument(values, 1)));
    for (int i = 0; i < 4; ++i) next_frame();
    return played();
  };
  all["theme"] = [this](const Values& values) {
    const std::string& name = text_argument(values, 0);
    if (name != "dark" && name != "light") fail("no theme \"", name, "\"; there are dark and light");
    set_theme(name == "dark");
    for (int i = 0; i < 2; ++i) next_frame();
    return played();
  };
  all["picture"] = [this](const Values& values) {
    const std::string& path = text_argument(values, 0);
    write_file(path, "");  // an unwritable path fails now, not in the next frame
    window_.presenter().capture(path);
    next_frame();
    return played();
  };
  all["frame_time"] = [this](const Values&) { return at_once({window_.build_ms()}); };
  all["memory"] = [](const Values& values) {
    return at_once({memory_of(values.empty() ? "resident" : text_argument(values, 0))});
  };
  all["quit"] = [this](const Values&) -> Poll {
    quit_ = true;
    return [] { return std::nullopt; };
  };
}

}  // namespace lunagrad
