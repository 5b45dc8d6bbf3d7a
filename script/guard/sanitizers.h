#pragma once
// The sanitizer with which the program is built. Sanitizers need more than a sandbox allows: they map
// terabytes and trace the process. At the end the address sanitizer looks for leaks in a process of its own,
// which reads /proc/self and stops this process's threads.
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
