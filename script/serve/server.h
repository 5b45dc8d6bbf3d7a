#pragma once
// The HTTP server of `lunagrad serve`: the page of reports, and the runs of one folder as JSON, read-only.
#include <memory>
#include <string>

#include "script/serve/connections.h"

namespace lunagrad {

class RunServer {
 public:
  RunServer(std::string folder, std::string host, ConnectionLimits = {});
  ~RunServer();  // waits for requests that are being answered
  RunServer(const RunServer&) = delete;

  // Begins to listen; port 0 picks a free port. Error when the port is in use, or when the host is not this
  // machine.
  void start(int port);
  // The URL with the token, without which every request is refused.
  std::string address() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lunagrad
