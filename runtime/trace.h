#pragma once
// Where things happen: source lines of the script, module paths, time stamps, and the listener that a session
// hangs in to see each op go by. Names are interned once per process; a line is eight bytes.
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

struct Call;
class Node;

// A line of a script. file 0 = unknown.
struct SourceLine {
  uint32_t file = 0;
  int32_t line = 0;
  bool known() const { return file != 0; }
  bool operator==(const SourceLine&) const = default;
};

// An id for a string (a script's name, a module's path), the same id for the same string. Thread-safe.
uint32_t intern(std::string_view);
const std::string& interned(uint32_t id);  // id 0 is ""

std::string to_string(SourceLine);  // "train.lua:12", or "" when unknown

// The cheapest clock there is: the processor's own counter, turned into time only when read by someone.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}
double ticks_to_ns(uint64_t ticks);  // calibrated once, in 2 ms, against the steady clock

// A listener of one context. Called on the context's thread, between ops; must not call the engine.
class Trace {
 public:
  virtual ~Trace() = default;
  virtual void ran(const Call&, uint64_t ticks) = 0;            // an op has run
  virtual void fell_back(const Call&, const char* reason) = 0;  // the device lacked it: it ran on the CPU
  virtual void waited(uint64_t /*ticks*/) {}                    // for a device, whose value somebody wants
};

}  // namespace lunagrad
