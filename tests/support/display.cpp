#include "tests/support/display.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "tests/support/timing.h"

namespace lunagrad::test {

// -displayfd: the server takes a free number and prints it. -fbdir: the screen is a file. -noreset: the
// server stays as it is when its last window closes.
Display::Display()
    : server_({"Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-fbdir", folder_.path(),
               "-noreset", "-nolisten", "tcp"}) {
  tests::eventually([&] { return server_.out().ends_with('\n') || !server_.running(); });
  const std::string out = server_.out();
  if (out.ends_with('\n')) number_ = out.substr(0, out.size() - 1);
}

Display::~Display() {
  server_.signal(SIGTERM);
  server_.finish();
}

std::vector<std::string> Display::environment() const { return {"DISPLAY=:" + number_, "WAYLAND_DISPLAY="}; }

int Display::window(const std::string& of_class) const {
  const Finished found =
      Program({"xdotool", "search", "--onlyvisible", "--class", of_class, "getwindowpid"}, "", environment())
          .finish();
  return found.code == 0 ? std::atoi(found.out.c_str()) : 0;
}

bool Display::has_drawn() const {
  // An xwd file: a header of big-endian 32-bit numbers, then the colour table, then the pixels. The first
  // number is the size of the header, the 20th the number of colours; a colour has 12 bytes.
  const std::string screen = read_file(folder_.path() + "/Xvfb_screen0");
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(screen[at + i]);
    return value;
  };
  if (screen.size() < 100) return false;
  std::set<uint32_t> colors;
  for (size_t at = number(0) + 12 * size_t(number(4 * 19)); at + 4 <= screen.size() && colors.size() <= 100;
       at += 4)
    colors.insert(number(at));
  return colors.size() > 100;
}

}  // namespace lunagrad::test
