#include "ui/drive.h"

#include <GLFW/glfw3.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/error.h"
#include "ui/theme.h"

namespace lunagrad {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

int key_code(const std::string& name) {
  if (name.size() > 1 && name[0] == 'F') return GLFW_KEY_F1 + std::atoi(name.c_str() + 1) - 1;
  if (name == "Enter") return GLFW_KEY_ENTER;
  if (name == "Escape") return GLFW_KEY_ESCAPE;
  if (name == "Up") return GLFW_KEY_UP;
  if (name == "Down") return GLFW_KEY_DOWN;
  if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') return name[0];
  return -1;
}

}  // namespace

Drive::Drive(const std::string& path, Window& window) : path_(path), window_(window) {
  std::ifstream file(path);
  if (!file) fail_as(ErrorKind::file, "drive: cannot read ", path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (const size_t comment = line.find('#'); comment != line.npos) line.resize(comment);
    std::istringstream words(line);
    Command command{number, {}, {}, {}};
    if (!(words >> command.verb)) continue;
    words >> command.name;
    std::getline(words >> std::ws, command.text);
    command.text.resize(command.text.find_last_not_of(" \r") + 1);
    commands_.push_back(command);
  }
}

void Drive::inject() {
  ImGuiIO& io = ImGui::GetIO();
  if (!steps_.empty()) {
    steps_.front()(io);
    steps_.pop_front();
  }
  io.MousePos = mouse_;
  io.MouseDown[0] = down_;
}

const Description::Item* Drive::find(const Description& shown, const Command& command) const {
  for (const Description::Item& item : shown.items())
    if (item.name == command.name && item.text.find(command.text) != item.text.npos) return &item;
  return nullptr;
}

void Drive::fail(const Command& command, const std::string& why, const Description& shown) {
  std::fprintf(stderr, "%s:%d: %s %s %s: %s\n", path_.c_str(), command.line, command.verb.c_str(),
               command.name.c_str(), command.text.c_str(), why.c_str());
  for (const Description::Item& item : shown.items())
    std::fprintf(stderr, "  shown: %s \"%s\"\n", item.name.c_str(), item.text.c_str());
  failed_ = done_ = true;
}

void Drive::press_key(const Command& command, const Description& shown) {
  std::string name = command.name;
  bool ctrl = false, shift = false;
  if (name.starts_with("Ctrl+")) ctrl = true, name.erase(0, 5);
  if (name.starts_with("Shift+")) shift = true, name.erase(0, 6);
  const int code = key_code(name);
  if (code < 0) return fail(command, "no such key", shown);
  steps_.push_back([=](ImGuiIO& io) {
    io.KeyCtrl = ctrl;
    io.KeyShift = shift;
    io.KeysDown[code] = true;
  });
  steps_.push_back([=](ImGuiIO& io) {
    io.KeysDown[code] = false;
    io.KeyCtrl = io.KeyShift = false;
  });
}

void Drive::start(const Command& command, const Description& shown) {
  const std::string& verb = command.verb;
  const auto move_to = [this](ImVec2 at) { steps_.push_back([this, at](ImGuiIO&) { mouse_ = at; }); };
  const auto set_down = [this](bool down) { steps_.push_back([this, down](ImGuiIO&) { down_ = down; }); };
  const auto rest = [this] { steps_.push_back([](ImGuiIO&) {}); };
  ++next_;
  if (verb == "wait") {
    if (!waiting_) began_ = std::chrono::steady_clock::now();
    waiting_ = !find(shown, command);
    if (waiting_ && std::chrono::steady_clock::now() - began_ > kPatience)
      return fail(command, "not shown within 60 s", shown);
    if (waiting_) --next_;
  } else if (verb == "expect") {
    if (!find(shown, command)) fail(command, "not shown", shown);
  } else if (verb == "absent") {
    if (find(shown, command)) fail(command, "shown", shown);
  } else if (verb == "click" || verb == "hover" || verb == "drag" || verb == "wheel") {
    Command target = command;
    float dx = 0, dy = 0;
    if (verb == "drag" || verb == "wheel") {
      std::istringstream(command.text) >> dx >> dy;
      target.text.clear();
    }
    const Description::Item* item = find(shown, target);
    if (!item) return fail(command, "not shown", shown);
    const ImVec2 middle{(item->min.x + item->max.x) / 2, (item->min.y + item->max.y) / 2};
    move_to(middle);
    rest();
    if (verb == "wheel") {
      steps_.push_back([dx](ImGuiIO& io) { io.MouseWheel = dx; });
    } else if (verb == "click") {
      set_down(true);
      set_down(false);
    } else if (verb == "drag") {
      set_down(true);
      for (int i = 1; i <= 4; ++i) move_to({middle.x + dx * float(i) / 4, middle.y + dy * float(i) / 4});
      set_down(false);
    }
    for (int i = 0; i < 2; ++i) rest();
  } else if (verb == "key") {
    press_key(command, shown);
  } else if (verb == "type") {
    const std::string text = command.name + (command.text.empty() ? "" : " " + command.text);
    steps_.push_back([text](ImGuiIO& io) { io.AddInputCharactersUTF8(text.c_str()); });
    rest();
  } else if (verb == "frames") {
    for (int i = 0; i < std::atoi(command.name.c_str()); ++i) rest();
  } else if (verb == "seconds") {
    sleep_until_ = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(int(1000 * std::atof(command.name.c_str())));
  } else if (verb == "resize") {
    window_.resize(std::atoi(command.name.c_str()), std::atoi(command.text.c_str()));
    for (int i = 0; i < 4; ++i) rest();
  } else if (verb == "theme") {
    set_theme(command.name != "light");
    for (int i = 0; i < 2; ++i) rest();
  } else if (verb == "picture") {
    window_.presenter().capture(command.name);
    rest();
  } else if (verb == "quit") {
    done_ = true;
  } else {
    fail(command, "no such command", shown);
  }
}

bool Drive::after_frame(const Description& shown) {
  if (!steps_.empty() || std::chrono::steady_clock::now() < sleep_until_) return false;
  if (next_ == commands_.size()) return true;
  start(commands_[next_], shown);
  return done_;
}

}  // namespace lunagrad
