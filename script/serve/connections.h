#pragma once
// The connections of `lunagrad serve`. One thread reads requests and sends replies without waiting for any
// client; a few other threads answer. So a slow, idle or hostile client occupies a connection, never a
// thread, and only until its deadline.
#include <functional>
#include <memory>
#include <string>

namespace lunagrad {

struct ConnectionLimits {
  // When a limit is reached, the connection that has waited longest for its request is closed; if none waits,
  // the new connection is refused with 503. A client is an IPv4 address, or a 64-bit IPv6 network.
  size_t connections = 256, of_one_client = 64;
  size_t head_bytes = size_t(16) << 10;    // size of a request; 431 beyond
  size_t reply_bytes = size_t(256) << 20;  // all replies that wait for their clients; 503 beyond
  double head_seconds = 10;                // from connecting to the end of the request
  double stall_seconds = 10;               // for each 64 KiB of a reply
  int threads = 4;
};

class Connections {
 public:
  // Returns the bytes of the reply to a request with this head. Called by several threads; must not throw.
  using Answer = std::function<std::string(const std::string& head)>;
  // Returns the reply to a client that is refused with this status.
  using Refusal = std::function<std::string(int status)>;

  Connections(ConnectionLimits, Answer, Refusal);
  ~Connections();  // waits for requests that are being answered
  Connections(const Connections&) = delete;

  // Begins to listen; port 0 picks a free port. Returns the port. Error when the port is in use, or when the
  // host is not this machine.
  int listen(const std::string& host, int port);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lunagrad
