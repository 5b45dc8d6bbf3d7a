// `lunagrad serve`: shows a folder of runs in a browser while they are written.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "runtime/core/error.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/flags.h"
#include "script/cli/base/signals.h"
#include "script/serve/server.h"

namespace lunagrad {
namespace {

struct Request {
  std::string folder = "runs";
  std::string host = "127.0.0.1";
  int64_t port = 8642;
  int64_t connections = int64_t(ConnectionLimits().connections);
  double timeout = ConnectionLimits().head_seconds;
};

int serve(const Request& request) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(request.folder, ignored))
    fail_as(ErrorKind::file, request.folder, ": there is no such folder");
  Signals signals;
  ConnectionLimits limits;
  limits.connections = size_t(request.connections);
  limits.of_one_client = std::min(limits.of_one_client, limits.connections);
  limits.head_seconds = limits.stall_seconds = request.timeout;
  RunServer server(request.folder, request.host, limits);
  server.start(int(request.port));
  std::cout << server.address() << std::endl;
  std::cerr << "shows the runs in " << request.folder << ", read-only; Ctrl-C ends it\n";
  if (request.host != "127.0.0.1" && request.host != "localhost" && request.host != "::1")
    std::cerr
        << "everyone who reaches this machine and knows the address can read them; nothing is encrypted\n";
  while (signals.count() == 0) signals.wait(-1);
  // Ends at once, without waiting for a browser's open requests.
  std::cout.flush();
  _exit(128 + signals.last());
}

}  // namespace

Action add_serve(Program& program) {
  const auto request = std::make_shared<Request>();
  CLI::App& command = add_command(program, "serve", "show a folder of runs live in a browser");
  add_optional_argument(command, "RUNS", request->folder, "the folder of runs, or of one run");
  add_option(command, "--port", request->port, {0, 65535}, "0: a free one");
  add_option(command, "--host", request->host, "an address of this machine; others can then reach it",
             "ADDR");
  add_option(command, "--connections", request->connections, {1, 10000},
             "at most so many at a time; one that has sent no request yet makes room for a new one");
  add_seconds(command, "--client-timeout", request->timeout,
              "for a request, and for each 64 KiB that a client takes of the answer (default 10)");
  set_footer(command,
             "Prints the address to open, which holds a token. From another machine: ssh -t -L "
             "8642:127.0.0.1:8642 HOST, then open the same address there.");
  return [=] { return carry_out("serve", [&] { return serve(*request); }); };
}

}  // namespace lunagrad
