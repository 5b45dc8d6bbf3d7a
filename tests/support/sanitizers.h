#pragma once
// The sanitizer that the tests are built with. Sanitizers delay the release of memory and slow each access;
// under the thread sanitizer a forked child cannot start threads.
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
