#include "script/serve/guard.h"

#include <arpa/inet.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "runtime/core/error.h"

namespace lunagrad {

std::string make_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
    fail("serve: the system gives no random numbers");
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

bool same_token(std::string_view given, std::string_view expected) {
  if (given.size() != expected.size()) return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    difference = static_cast<unsigned char>(difference | (given[i] ^ expected[i]));
  return difference == 0;
}

bool is_own_host(std::string_view host, std::string_view own) {
  std::string name(host);
  if (name.starts_with('[')) {
    const size_t end = name.find(']');
    if (end == name.npos || (end + 1 < name.size() && name[end + 1] != ':')) return false;
    name = name.substr(1, end - 1);
  } else if (const size_t colon = name.find(':'); colon != name.npos) {
    if (name.find(':', colon + 1) != name.npos) return false;  // an IPv6 address has brackets
    name.resize(colon);
  }
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  name = lower(name);
  if (name.empty()) return false;
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (inet_pton(AF_INET, name.c_str(), address.data()) == 1) return true;
  if (inet_pton(AF_INET6, name.c_str(), address.data()) == 1) return true;
  std::array<char, 256> machine{};
  gethostname(machine.data(), machine.size() - 1);
  return name == "localhost" || name == lower(std::string(own)) || name == lower(machine.data());
}

}  // namespace lunagrad
