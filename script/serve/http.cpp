#include "script/serve/http.h"

#include <algorithm>
#include <cctype>

namespace lunagrad {
namespace {

constexpr size_t kMostHeaders = 64;

// Removes and returns the part of `text` before `separator`; all of `text` when there is no separator.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + separator.size());
  return part;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "%2f" is "/"; in a query "+" is a space.
std::string decoded(std::string_view text, bool query) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (escaped) {
      out += char(digit(text[i + 1]) << 4 | digit(text[i + 2]));
      i += 2;
    } else {
      out += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

bool is_visible(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

bool is_name(std::string_view name, const char* lower) {
  return std::equal(name.begin(), name.end(), lower, lower + std::string_view(lower).size(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

std::optional<HttpRequest> parse_request(std::string_view head) {
  std::string_view line = take_until(head, "\r\n");
  HttpRequest request;
  request.method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  const bool is_http = line == "HTTP/1.1" || line == "HTTP/1.0";
  if (!is_http || !is_visible(request.method) || !is_visible(target) || target[0] != '/') return {};

  std::string_view query = target.substr(0, target.find('#'));
  std::string_view path = take_until(query, "?");
  path.remove_prefix(1);
  do request.path.push_back(decoded(take_until(path, "/"), false));
  while (!path.empty());
  while (!query.empty()) {
    std::string_view value = take_until(query, "&");
    std::string name = decoded(take_until(value, "="), true);
    request.query.emplace(std::move(name), decoded(value, true));
  }

  for (size_t count = 0; !head.empty(); ++count) {
    std::string_view value = take_until(head, "\r\n");
    if (value.empty()) return request;
    const size_t colon = value.find(':');
    if (count == kMostHeaders || colon == value.npos || !is_visible(value.substr(0, colon))) return {};
    const std::string_view name = take_until(value, ":");
    if (!is_name(name, "host")) continue;
    if (!request.host.empty()) return {};
    request.host = trimmed(value);
  }
  return {};
}

std::string to_bytes(const HttpReply& reply, bool head_only) {
  std::string bytes = "HTTP/1.1 " + std::to_string(reply.status) + " " + reason_of(reply.status) +
                      "\r\nContent-Type: " + reply.type +
                      "\r\nContent-Length: " + std::to_string(reply.body.size()) +
                      "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
                      "\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer"
                      "\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n";
  if (!head_only) bytes += reply.body;
  return bytes;
}

}  // namespace lunagrad
