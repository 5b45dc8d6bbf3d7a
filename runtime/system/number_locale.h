#pragma once
// The locale of a session's thread. Scripts write and read numbers with '.', whatever LC_NUMERIC the program
// has set with setlocale(): Lua and its library use the C library's numbers. The other categories are the
// program's, copied when the object is made: the program must not call setlocale() meanwhile. For the thread
// that makes the object.
namespace lunagrad {

class NumberLocale {
 public:
  NumberLocale();
  ~NumberLocale();
  NumberLocale(const NumberLocale&) = delete;

 private:
  friend void refresh_number_locale();
  void refresh();

  void* used_ = nullptr;  // of the system
};

// After a setlocale() of a script: this thread takes the program's other categories again.
void refresh_number_locale();

// While it lives, the thread has the program's locale: code of the program is called.
class ProgramLocale {
 public:
  ProgramLocale();
  ~ProgramLocale();
  ProgramLocale(const ProgramLocale&) = delete;

 private:
  void* const before_;  // of the system
};

}  // namespace lunagrad
