#include "script/serve/server.h"

#include <httplib.h>

#include <charconv>
#include <cstring>
#include <thread>

#include "runtime/error.h"
#include "script/report/page.h"
#include "script/run/json.h"
#include "script/serve/guard.h"
#include "script/serve/live_runs.h"

namespace lunagrad {
namespace {

// A request occupies a thread until it is answered; browsers open up to six at once.
constexpr size_t kThreads = 32;
constexpr const char* kJson = "application/json";

int64_t number_of(const httplib::Request& request, const char* name) {
  const std::string text = request.get_param_value(name);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<int64_t>(value, 0);
}

void refuse(httplib::Response& response, int status, const std::string& problem) {
  response.status = status;
  response.set_content(json_text({{"problem", problem}}), kJson);
}

}  // namespace

class RunServer::Impl {
 public:
  Impl(std::string folder, std::string host)
      : runs_(std::move(folder)), host_(std::move(host)), token_(make_token()) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_keep_alive_max_count(1);  // an idle connection must not occupy a thread
    server_.set_read_timeout(5);
    server_.set_write_timeout(10);
    server_.set_payload_max_length(1024);
    // Without SO_REUSEPORT, which would let a second server take half of the requests.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_default_headers({{"Cache-Control", "no-store"},
                                 {"X-Content-Type-Options", "nosniff"},
                                 {"X-Frame-Options", "DENY"},
                                 {"Referrer-Policy", "no-referrer"},
                                 {"Cross-Origin-Resource-Policy", "same-origin"}});
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return allow(request, response);
    });
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, std::exception_ptr problem) {
          try {
            std::rethrow_exception(problem);
          } catch (const std::exception& error) {
            refuse(response, 500, error.what());
          } catch (...) {
            refuse(response, 500, "the request failed");
          }
        });
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(report_page("Lunagrad", R"({"live": true})", ReportPage::live),
                           "text/html; charset=utf-8");
    });
    server_.Get("/api/runs", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(runs_.list(), kJson);
    });
    server_.Get(R"(/api/run/([^/]+))", [this](const httplib::Request& request, httplib::Response& response) {
      send_run(request, response);
    });
    server_.Get(R"(/api/picture/([^/]+)/([^/]+))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  const auto picture = runs_.picture(request.matches[1], request.matches[2]);
                  if (!picture) return refuse(response, 404, "there is no such picture");
                  response.set_content(*picture, "image/png");
                });
  }

  ~Impl() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  void start(int port) {
    errno = 0;
    if (port == 0) {
      port_ = server_.bind_to_any_port(host_.c_str());
    } else {
      port_ = server_.bind_to_port(host_.c_str(), port) ? port : -1;
    }
    if (port_ < 0) {
      const int reason = errno;
      if (reason == EADDRINUSE) fail("port ", port, " of ", host_, " is in use; --port 0 takes a free one");
      fail("cannot listen on ", host_, port ? text(" port ", port) : std::string(), ": ",
           reason ? std::strerror(reason) : "not an address of this machine");
    }
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::string address() const {
    const bool all = host_ == "0.0.0.0" || host_ == "::";
    const std::string name = all ? "localhost" : host_;
    return text("http://", name.find(':') == name.npos ? name : "[" + name + "]", ':', port_,
                "/?token=", token_);
  }

 private:
  httplib::Server::HandlerResponse allow(const httplib::Request& request, httplib::Response& response) {
    using Next = httplib::Server::HandlerResponse;
    if (!is_own_host(request.get_header_value("Host"), host_)) {
      refuse(response, 403, "the request names another host");
      return Next::Handled;
    }
    if (!same_token(request.get_param_value("token"), token_)) {
      refuse(response, 403, "the token of the address is missing or wrong");
      return Next::Handled;
    }
    if (request.method != "GET" && request.method != "HEAD") {
      refuse(response, 405, "the server is read-only");
      return Next::Handled;
    }
    return Next::Unhandled;
  }

  void send_run(const httplib::Request& request, httplib::Response& response) {
    LiveCursor cursor;
    cursor.generation = request.get_param_value("generation");
    cursor.read = {uint64_t(number_of(request, "rows")), number_of(request, "log"),
                   number_of(request, "tapes")};
    try {
      const std::optional<std::string> run = runs_.run(request.matches[1], cursor);
      if (!run) return refuse(response, 404, "This run is not there any more.");
      response.set_content(*run, kJson);
    } catch (const Error& error) {
      refuse(response, 500, error.what());
    }
  }

  LiveRuns runs_;
  const std::string host_, token_;
  int port_ = -1;
  httplib::Server server_;
  std::thread thread_;
};

RunServer::RunServer(std::string folder, std::string host)
    : impl_(std::make_unique<Impl>(std::move(folder), std::move(host))) {}

RunServer::~RunServer() = default;

void RunServer::start(int port) { impl_->start(port); }

std::string RunServer::address() const { return impl_->address(); }

}  // namespace lunagrad
