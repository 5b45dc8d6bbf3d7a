#pragma once
// The sanitizer that the program is built with, which needs more than a sandbox gives: sanitizers map
// terabytes and trace the process; the address sanitizer looks for leaks at the end, in a process of its own
// that reads /proc/self and stops the threads of this one.
namespace lunagrad {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kLooksForLeaks = true;
#else
inline constexpr bool kLooksForLeaks = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitizedBuild = true;
#else
inline constexpr bool kSanitizedBuild = false;
#endif

}  // namespace lunagrad
