#pragma once
// Decides whether a request may see anything: it must know the token, and name this machine as its host.
// Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// 128 random bits of the system, in hexadecimal digits.
std::string make_token();
// In a time that depends on the lengths alone.
bool same_token(std::string_view given, std::string_view expected);
// A page of another site can let its own name resolve to this machine (DNS rebinding), but then its name is
// in the request. Allowed are addresses in digits, "localhost", this machine's name and `own`, which the user
// gave.
bool is_own_host(std::string_view host, std::string_view own);

}  // namespace lunagrad
