#pragma once
// The part of HTTP/1.1 that `lunagrad serve` speaks: requests without a body, one per connection. Pure; any
// thread.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct HttpRequest {
  std::string method;
  std::vector<std::string> path;             // decoded: "/api/run/a" is {"api", "run", "a"}, "/" is {""}
  std::map<std::string, std::string> query;  // decoded; if a name occurs twice, the first counts
  std::string host;                          // from the header; "" when there is none
};

// `head` ends with an empty line. Empty if it is not an HTTP/1 request, or has more than 64 header lines.
std::optional<HttpRequest> parse_request(std::string_view head);

struct HttpReply {
  int status = 200;
  std::string type = "application/json", body;
};

// The reply as bytes, after which the connection ends. Without its body for the method HEAD.
std::string to_bytes(const HttpReply&, bool head_only);

}  // namespace lunagrad
