#pragma once
// Which sanitizer watches the tests: they hold freed memory back, multiply the time of each access, and the
// thread sanitizer lets no forked child start threads.
namespace lunagrad::tests {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace lunagrad::tests
