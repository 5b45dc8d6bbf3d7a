#include "script/serve/server.h"

#include <charconv>

#include "runtime/core/error.h"
#include "script/report/page.h"
#include "script/run/json.h"
#include "script/serve/guard.h"
#include "script/serve/http.h"
#include "script/serve/live_runs.h"

namespace lunagrad {
namespace {

std::string value_of(const HttpRequest& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

int64_t number_of(const HttpRequest& request, const char* name) {
  const std::string text = value_of(request, name);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<int64_t>(value, 0);
}

HttpReply refusal(int status, const std::string& problem) {
  return {.status = status, .body = json_text({{"problem", problem}})};
}

std::string refusal_of_connections(int status) {
  return to_bytes(refusal(status, status == 431   ? "the request is too long"
                                  : status == 408 ? "the request took too long"
                                                  : "too many connections"),
                  false);
}

}  // namespace

class RunServer::Impl {
 public:
  Impl(std::string folder, std::string host, ConnectionLimits limits)
      : runs_(std::move(folder)),
        host_(std::move(host)),
        token_(make_token()),
        connections_(
            limits, [this](const std::string& head) { return answer(head); }, refusal_of_connections) {}

  void start(int port) { port_ = connections_.listen(host_, port); }

  std::string address() const {
    const bool all = host_ == "0.0.0.0" || host_ == "::";
    const std::string name = all ? "localhost" : host_;
    return text("http://", name.find(':') == name.npos ? name : "[" + name + "]", ':', port_,
                "/?token=", token_);
  }

 private:
  std::string answer(const std::string& head) {
    const std::optional<HttpRequest> request = parse_request(head);
    if (!request) return to_bytes(refusal(400, "this is no request"), false);
    HttpReply reply;
    try {
      reply = answer(*request);
    } catch (const std::exception& error) {
      reply = refusal(500, error.what());
    }
    return to_bytes(reply, request->method == "HEAD");
  }

  HttpReply answer(const HttpRequest& request) {
    if (!is_own_host(request.host, host_)) return refusal(403, "the request names another host");
    if (!same_token(value_of(request, "token"), token_))
      return refusal(403, "the token of the address is missing or wrong");
    if (request.method != "GET" && request.method != "HEAD") return refusal(405, "the server is read-only");
    const std::vector<std::string>& path = request.path;
    const size_t parts = path.size();
    for (const std::string& part : path)
      if (part.find('/') != part.npos || part.find('\0') != part.npos)
        return refusal(404, "there is no such page");
    if (parts == 1 && path[0].empty())
      return {.type = "text/html; charset=utf-8",
              .body = report_page("Lunagrad", R"({"live": true})", ReportPage::live)};
    if (path[0] != "api") return refusal(404, "there is no such page");
    if (parts == 2 && path[1] == "runs") return {.body = runs_.list()};
    if (parts == 3 && path[1] == "run") return run(request);
    if (parts == 4 && path[1] == "picture") {
      auto picture = runs_.picture(path[2], path[3]);
      if (!picture) return refusal(404, "there is no such picture");
      return {.type = "image/png", .body = std::move(*picture)};
    }
    return refusal(404, "there is no such page");
  }

  HttpReply run(const HttpRequest& request) {
    LiveCursor cursor;
    cursor.generation = value_of(request, "generation");
    cursor.read = {uint64_t(number_of(request, "rows")), number_of(request, "log"),
                   number_of(request, "tapes")};
    std::optional<std::string> run = runs_.run(request.path[2], cursor);
    if (!run) return refusal(404, "This run is not there any more.");
    return {.body = std::move(*run)};
  }

  LiveRuns runs_;
  const std::string host_, token_;
  int port_ = -1;
  Connections connections_;  // last member: its threads use the others
};

RunServer::RunServer(std::string folder, std::string host, ConnectionLimits limits)
    : impl_(std::make_unique<Impl>(std::move(folder), std::move(host), limits)) {}

RunServer::~RunServer() = default;

void RunServer::start(int port) { impl_->start(port); }

std::string RunServer::address() const { return impl_->address(); }

}  // namespace lunagrad
