#pragma once
// A virtual display of 1600 x 1000 pixels (Xvfb), on which a test opens windows as a user does.
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace lunagrad::test {

class Display {
 public:
  Display();   // waits until the display is there
  ~Display();  // what is still open on it loses its display
  Display(const Display&) = delete;

  bool works() const { return !number_.empty(); }
  // NAME=VALUE for a program that opens its windows here.
  std::vector<std::string> environment() const;
  // The process that owns the visible window of this class; 0: there is none.
  int window(const std::string& of_class) const;
  // Whether something with letters or pictures is on the display: more than 100 colours.
  bool has_drawn() const;

 private:
  const Folder folder_;
  Program server_;
  std::string number_;
};

}  // namespace lunagrad::test
