#pragma once
// Decides whether a request is allowed: it must have the token, and name this machine as its host. Pure; any
// thread.
#include <string>
#include <string_view>

namespace lunagrad {

// 128 random bits of the system, in hexadecimal digits.
std::string make_token();
// Compares in a time that depends only on the lengths.
bool same_token(std::string_view given, std::string_view expected);
// Another site's page can let its own name resolve to this machine (DNS rebinding), but then the request
// contains that name. Allowed are numeric addresses, "localhost", this machine's name and `own`, which the
// user gave.
bool is_own_host(std::string_view host, std::string_view own);

}  // namespace lunagrad
