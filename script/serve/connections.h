#pragma once
// The connections of `lunagrad serve`. One thread reads requests and sends replies without waiting for any
// client; a few others answer. So a client that is slow, idle or hostile holds a place among the connections,
// never a thread, and only until its deadline.
#include <functional>
#include <memory>
#include <string>

namespace lunagrad {

struct ConnectionLimits {
  // Beyond them the connection that has waited longest for its request is closed; without one, the new one is
  // refused with 503. A client is an address of IPv4, or a network of 64 bits of IPv6.
  size_t connections = 256, of_one_client = 64;
  size_t head_bytes = size_t(16) << 10;    // of a request; 431 beyond
  size_t reply_bytes = size_t(256) << 20;  // of all replies that wait for their clients; 503 beyond
  double head_seconds = 10;                // from the connection to the end of the request
  double stall_seconds = 10;               // for each 64 KiB of a reply
  int threads = 4;
};

class Connections {
 public:
  // The bytes of the reply to the head of a request. Called by several threads; must not throw.
  using Answer = std::function<std::string(const std::string& head)>;
  // The reply to a client that is refused with that status.
  using Refusal = std::function<std::string(int status)>;

  Connections(ConnectionLimits, Answer, Refusal);
  ~Connections();  // waits for requests that are being answered
  Connections(const Connections&) = delete;

  // Begins to listen; port 0 picks a free one. Returns the port. Error: the port is in use, or the host is
  // none of this machine.
  int listen(const std::string& host, int port);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lunagrad
