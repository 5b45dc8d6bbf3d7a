#pragma once
// Source lines of the script, interned names, time stamps, and the listener through which a session observes
// each op. Names are interned once per process; a source line takes eight bytes.
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

struct Call;
class Node;

// A line of a script, from 1. `file` is an interned name; 0: unknown.
struct SourceLine {
  uint32_t file = 0;
  int32_t line = 0;
  bool known() const { return file != 0; }
  bool operator==(const SourceLine&) const = default;
};

// The id of a string (a script's name, a module's path): equal strings have equal ids. Thread-safe.
uint32_t intern(std::string_view);
const std::string& interned(uint32_t id);  // "" for id 0 and for an unknown id

std::string to_string(SourceLine);  // "train.lua:12", or "" when unknown

// The cheapest clock: the processor's time stamp counter. Only readers convert it to time (ticks_to_ns).
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}
double ticks_to_ns(uint64_t ticks);  // the first call takes 2 ms to calibrate against the steady clock

// A listener of one context (Context::trace). Called on the context's thread, between ops. Must not run ops.
class Trace {
 public:
  virtual ~Trace() = default;
  virtual void ran(const Call&, uint64_t ticks) = 0;  // called after an op has run
  virtual void fell_back(const Call&,
                         // called when an op runs on the CPU, because the device has no kernel
                         const char* reason) = 0;
  virtual void waited(uint64_t /*ticks*/) {}  // called after the thread waited for a device's value
  // Whether the listener needs the calls and their times: no call is deferred while it does.
  virtual bool sees_calls() const { return true; }
};

}  // namespace lunagrad
