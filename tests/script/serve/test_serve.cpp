// `lunagrad serve` as a browser sees it, and as a client without access does.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/program.h"

using namespace lunagrad::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Answer {
  int status = 0;
  std::string head, body;
};

class Server {
 public:
  explicit Server(const Folder& folder, const std::string& runs = "runs", const std::string& directory = "",
                  const std::vector<std::string>& flags = {})
      : program_(command(runs, flags), "", {}, folder.path() + "/" + directory) {
    REQUIRE(program_.wrote("Ctrl-C ends it"));
    const std::string address = program_.out();
    const size_t port = address.rfind(':') + 1, token = address.find("token=") + 6;
    port_ = std::stoi(address.substr(port));
    token_ = address.substr(token, address.find('\n') - token);
  }

  // Sends these bytes and reads to the end.
  Answer send(const std::string& request) const {
    const int connection = dial();
    REQUIRE(::send(connection, request.data(), request.size(), MSG_NOSIGNAL) == ssize_t(request.size()));
    const std::string text = read_all(connection);
    Answer answer;
    const size_t end = text.find("\r\n\r\n");
    if (end == text.npos) return answer;
    answer.head = text.substr(0, end);
    answer.body = text.substr(end + 4);
    answer.status = std::stoi(text.substr(text.find(' ') + 1));
    return answer;
  }
  // The bytes that arrive until the server ends the connection.
  static std::string read_all(int connection) {
    std::string text;
    char block[65536];
    for (ssize_t got; (got = read(connection, block, sizeof block)) > 0;) text.append(block, size_t(got));
    close(connection);
    return text;
  }
  int dial() const {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(uint16_t(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    return connection;
  }
  // `path` with the token.
  Answer get(const std::string& path, const std::string& method = "GET",
             const std::string& host = "127.0.0.1") const {
    const std::string query = path.find('?') == path.npos ? "?" : "&";
    return send(method + " " + path + query + "token=" + token_ + " HTTP/1.1\r\nHost: " + host + ":" +
                std::to_string(port_) + "\r\nConnection: close\r\n\r\n");
  }
  json get_json(const std::string& path) const { return json::parse(get(path).body); }
  // The data after an earlier answer.
  json follow(const std::string& run, const json& before) const {
    const json& cursor = before["cursor"];
    return get_json("/api/run/" + run + "?rows=" + cursor["rows"].dump() + "&log=" + cursor["log"].dump() +
                    "&tapes=" + cursor["tapes"].dump() +
                    "&generation=" + before["generation"].get<std::string>());
  }

  Program& program() { return program_; }
  int port() const { return port_; }
  const std::string& token() const { return token_; }

 private:
  static std::vector<std::string> command(const std::string& runs, const std::vector<std::string>& flags) {
    std::vector<std::string> all{kProgram, "serve", runs, "--port", "0"};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }

  Program program_;
  int port_ = 0;
  std::string token_;
};

std::string rows(int from, int to) {
  std::string text;
  for (int step = from; step <= to; ++step)
    text += R"({"step":)" + std::to_string(step) + R"(,"time":0.5,"metrics":{"loss":)" +
            std::to_string(step) + ".5}}\n";
  return text;
}

void append(const Folder& folder, const std::string& file, const std::string& text) {
  std::ofstream(folder.path() + "/" + file, std::ios::app | std::ios::binary) << text;
}

Folder& with_run(Folder& folder) {
  fs::create_directories(folder.path() + "/runs/a/images");
  folder.write("runs/a/metrics.jsonl", rows(1, 10));
  folder.write("runs/a/config.json", R"({"script":"train.lua","started":"2026-01-01T00:00:00Z","steps":50})");
  folder.write("runs/a/log.txt", "hello\n");
  folder.write("runs/a/images/x.png", "\x89PNG\r\n\x1a\npicture");
  return folder;
}

}  // namespace

TEST_CASE("the server shows a folder of runs to who knows the token, and nothing else") {
  Folder folder;
  with_run(folder);
  folder.write("secret", "\x89PNG secret");
  fs::create_symlink(folder.path() + "/secret", folder.path() + "/runs/a/images/link.png");
  fs::create_directories(folder.path() + "/outside");
  folder.write("outside/metrics.jsonl", rows(1, 2));
  fs::create_directory_symlink(folder.path() + "/outside", folder.path() + "/runs/link");
  fs::create_directories(folder.path() + "/runs/linked");
  fs::create_symlink(folder.path() + "/outside/metrics.jsonl", folder.path() + "/runs/linked/metrics.jsonl");
  Server server(folder);
  CHECK(server.token().size() == 32);
  CHECK(server.program().out().starts_with("http://127.0.0.1:" + std::to_string(server.port()) + "/?token="));

  const Answer page = server.get("/");
  CHECK(page.status == 200);
  CHECK(page.body.find("{\"live\": true}") != std::string::npos);
  CHECK(page.head.find("nosniff") != std::string::npos);
  const json list = server.get_json("/api/runs");
  REQUIRE(list["runs"].size() == 1);
  CHECK(list["runs"][0]["name"] == "a");
  CHECK(list["runs"][0]["metrics"]["loss"] == 10.5);
  CHECK(server.get_json("/api/run/a")["curves"][0]["value"].size() == 10);
  CHECK(server.get("/api/picture/a/x.png").body == "\x89PNG\r\n\x1a\npicture");

  const auto raw = [&](const std::string& line, const std::string& host) {
    return server.send(line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n").status;
  };
  const std::string token = "token=" + server.token();
  for (const std::string path : {"/", "/api/runs", "/api/run/a", "/api/picture/a/x.png", "/nothing"}) {
    CAPTURE(path);
    CHECK(raw("GET " + path, "127.0.0.1") == 403);
    CHECK(raw("GET " + path + "?token=", "127.0.0.1") == 403);
    CHECK(raw("GET " + path + "?token=" + std::string(32, '0'), "127.0.0.1") == 403);
    CHECK(raw("GET " + path + "?" + token.substr(0, token.size() - 1), "127.0.0.1") == 403);
    // DNS rebinding: the name of another site.
    for (const char* host : {"evil.example", "127.0.0.1.evil.example", "", "[::1", "localhost.", "a:b:c"})
      CHECK(raw("GET " + path + "?" + token, host) == 403);
  }
  for (const char* host : {"127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:80", "192.168.0.9"})
    CHECK(raw("GET /api/runs?" + token, host) == 200);
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
    CHECK(server.get("/api/runs", method).status == 405);

  for (const std::string path :
       {"/api/run/..", "/api/run/.", "/api/run/%2e%2e", "/api/run/..%2foutside", "/api/run/%2fetc",
        "/api/run/link", "/api/run/linked", "/api/run/a%00", "/api/run/", "/api/run/a/../../outside",
        "/api/picture/a/link.png", "/api/picture/a/..%2fconfig.json", "/api/picture/a/..%2f..%2f..%2fsecret",
        "/api/picture/link/metrics.jsonl", "/../../etc/passwd", "/api/picture/a/..", "/runs/a/config.json"}) {
    CAPTURE(path);
    CHECK(server.get(path).status == 404);
  }
  CHECK(server.send("nonsense\r\n\r\n").status == 400);
}

TEST_CASE("a run is followed while it grows, shrinks, is resumed, damaged and removed") {
  Folder folder;
  with_run(folder);
  const std::string metrics = "runs/a/metrics.jsonl";
  Server server(folder);
  json before = server.get_json("/api/run/a");
  CHECK(before["whole"] == true);
  CHECK(before["steps"] == 10);
  CHECK(before["log"]["begin"] == "hello\n");
  CHECK(server.follow("a", before)["curves"].empty());

  append(folder, metrics, rows(11, 12) + R"({"step":13,"ti)");
  append(folder, "runs/a/log.txt", "more\npart");
  json news = server.follow("a", before);
  CHECK(news["whole"] == false);
  CHECK(news["curves"][0]["from"] == 10);
  CHECK(news["curves"][0]["value"] == json({11.5, 12.5}));
  CHECK(news["log"]["begin"] == "more\n");
  append(folder, metrics,
         R"(me":1,"metrics":{"loss":"NaN","new":1}})"
         "\n");
  append(folder, "runs/a/log.txt", "\n");
  before = news;
  news = server.follow("a", before);
  CHECK(news["curves"].size() == 2);
  CHECK(news["curves"][0]["value"] == json({"NaN"}));
  CHECK(news["log"]["begin"] == "part\n");

  // Resumed: the rows after step 5 are void, and the page begins again.
  append(folder, metrics,
         R"({"step":5,"time":1,"resume":"x"})"
         "\n" +
             rows(6, 6));
  before = server.follow("a", news);
  CHECK(before["whole"] == true);
  CHECK(before["curves"][0]["value"].back() == 6.5);
  CHECK(before["curves"][0]["value"].size() == 6);

  folder.write(metrics, rows(1, 3));  // shorter
  before = server.follow("a", before);
  CHECK(before["whole"] == true);
  CHECK(before["curves"][0]["value"].size() == 3);
  fs::remove(folder.path() + "/" + metrics);  // another file of the same name
  folder.write(metrics, rows(101, 130));
  before = server.follow("a", before);
  CHECK(before["whole"] == true);
  CHECK(before["curves"][0]["value"].size() == 30);

  append(folder, metrics, "damaged\n" + rows(31, 31));
  const json damaged = server.get_json("/api/run/a");
  CHECK(damaged["curves"][0]["value"].size() == 31);
  CHECK(damaged["left_out"] == json::array({"1 damaged record of metrics.jsonl"}));
  fs::remove_all(folder.path() + "/runs/a");
  CHECK(server.get("/api/run/a").status == 404);
  CHECK(server.get_json("/api/runs")["runs"].empty());
  fs::remove_all(folder.path() + "/runs");
  CHECK(server.get_json("/api/runs")["runs"].empty());
}

TEST_CASE("a look at a long run reads only what was added") {
  Folder folder;
  fs::create_directories(folder.path() + "/runs/long");
  folder.write("runs/long/metrics.jsonl", rows(1, 300000));
  Server server(folder);
  json before = server.get_json("/api/run/long");
  CHECK(before["curves"][0]["count"] == 300000);
  CHECK(before["curves"][0]["step"].size() <= 2048);
  append(folder, "runs/long/metrics.jsonl", rows(300001, 300001));
  before = server.follow("long", before);
  for (int step = 300002; step < 300022; ++step) {
    append(folder, "runs/long/metrics.jsonl", rows(step, step));
    const json news = server.follow("long", before);
    CHECK(news["curves"][0]["step"].size() <= 2);
    CHECK(news["curves"][0]["max"]["step"] == step);
    CHECK(news.dump().size() < 4000);
    before = news;
  }
}

TEST_CASE("a run that is followed does not wait for the list of many runs") {
  Folder folder;
  with_run(folder);
  folder.write("texts", "");
  const auto grow = [&] {
    for (int line = 0; line < 1000; ++line)
      append(folder, "texts",
             R"({"step":1,"time":1,"text":{"note":"a line of some length"}})"
             "\n");
  };
  for (int i = 0; i < 300; ++i) {
    const std::string run = folder.path() + "/runs/b" + std::to_string(i);
    fs::create_directories(run);
    fs::create_hard_link(folder.path() + "/texts", run + "/metrics.jsonl");
  }
  Server server(folder);
  using Clock = std::chrono::steady_clock;
  const auto waits = [&] {
    grow();
    std::atomic<bool> listed{false};
    const Clock::time_point begin = Clock::now();
    std::thread list([&] {
      server.get("/api/runs");
      listed = true;
    });
    Clock::duration longest{};
    while (!listed) {
      const Clock::time_point start = Clock::now();
      CHECK(server.get("/api/run/a").status == 200);
      longest = std::max(longest, Clock::now() - start);
    }
    list.join();
    return longest > (Clock::now() - begin) / 2;
  };
  // On a busy machine an answer can take long by chance, but not each time.
  int waited = 0;
  while (waited < 30 && waits()) ++waited;
  CHECK(waited < 30);
}

TEST_CASE("sixteen clients at once, idle and slow connections beside them") {
  Folder folder;
  with_run(folder);
  Server server(folder);
  std::vector<int> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(server.dial());
    if (i % 2) CHECK(::send(idle.back(), "GET /api", 8, MSG_NOSIGNAL) == 8);
  }
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int i = 0; i < 16; ++i)
    clients.emplace_back([&] {
      for (int k = 0; k < 5; ++k)
        right += server.get("/api/runs").status == 200 && server.get("/api/run/a").status == 200;
    });
  for (std::thread& client : clients) client.join();
  CHECK(right == 80);
  server.program().signal(SIGINT);
  CHECK(server.program().finish().code == 130);
  for (const int connection : idle) close(connection);
}

TEST_CASE("clients that send a byte at a time, and others that take none, keep nobody waiting") {
  Folder folder;
  with_run(folder);
  folder.write("runs/a/images/large.png", "\x89PNG\r\n\x1a\n" + std::string(24 << 20, 'x'));
  Server server(folder);
  std::vector<int> slow, greedy;
  for (int i = 0; i < 40; ++i) slow.push_back(server.dial());
  std::atomic<bool> ended{false};
  std::thread sender([&] {
    const std::string request =
        "GET /api/runs?token=" + server.token() + " HTTP/1.1\r\nX: " + std::string(9000, 'x');
    for (size_t i = 0; i < request.size() && !ended; ++i) {
      for (const int connection : slow) ::send(connection, &request[i], 1, MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const std::string picture =
      "GET /api/picture/a/large.png?token=" + server.token() + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (int i = 0; i < 8; ++i) {
    greedy.push_back(server.dial());
    CHECK(::send(greedy.back(), picture.data(), picture.size(), MSG_NOSIGNAL) == ssize_t(picture.size()));
  }
  for (int i = 0; i < 20; ++i) CHECK(server.get("/api/run/a").status == 200);
  CHECK(server.get("/api/picture/a/large.png").body.size() == (24 << 20) + 8);
  // 512 connections that send nothing: each newcomer takes the place of the oldest of them.
  std::vector<int> silent;  // not `slow`, which the sender reads
  for (int i = 0; i < 512; ++i) silent.push_back(server.dial());
  CHECK(server.get("/api/run/a").status == 200);
  ended = true;
  sender.join();
  for (const std::vector<int>* connections : {&greedy, &slow, &silent})
    for (const int connection : *connections) close(connection);
}

TEST_CASE("a connection ends at its deadline, and at the limits of a request and of connections") {
  Folder folder;
  with_run(folder);
  folder.write("runs/a/images/large.png", "\x89PNG\r\n\x1a\n" + std::string(24 << 20, 'x'));
  Server server(folder, "runs", "", {"--client-timeout", "0.3", "--connections", "4"});
  CHECK(Server::read_all(server.dial()).empty());
  const auto send_part = [&](const std::string& text) {
    const int connection = server.dial();
    CHECK(::send(connection, text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size()));
    return connection;
  };
  CHECK(Server::read_all(send_part("GET /api")).starts_with("HTTP/1.1 408 "));
  const std::string start = "GET /api/runs?token=" + server.token() + " HTTP/1.1\r\nHost: localhost\r\n";
  CHECK(server.send(start + "X: " + std::string(20000, 'x') + "\r\n\r\n").status == 431);
  std::string many = start;
  for (int i = 0; i < 100; ++i) many += "X: y\r\n";
  CHECK(server.send(many + "\r\n").status == 400);
  CHECK(server.send(start + "Host: localhost\r\n\r\n").status == 400);
  CHECK(server.send(start + "\r\n").status == 200);
  // A body is not read, and the client still gets the answer.
  CHECK(server
            .send("POST /api/runs?token=" + server.token() +
                  " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000\r\n\r\n" + std::string(30000, 'x'))
            .status == 405);
  // A client that stops reading the answer loses it.
  const int stalled = send_part("GET /api/picture/a/large.png?token=" + server.token() +
                                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const int oldest = server.dial();
  std::vector<int> idle;
  for (int i = 0; i < 4; ++i) idle.push_back(server.dial());
  CHECK(server.get("/api/run/a").status == 200);
  CHECK(Server::read_all(oldest).empty());
  for (const int connection : idle) CHECK(Server::read_all(connection).empty());
  for (int i = 0; i < 3; ++i)
    CHECK(Server::read_all(server.dial()).empty());  // its deadline passes together with the others'
  CHECK(Server::read_all(stalled).size() < (24 << 20));
}

TEST_CASE("the server serves one run, and says why it cannot start") {
  Folder folder;
  with_run(folder);
  Server server(folder, "runs/a");
  CHECK(server.get_json("/api/runs")["runs"].size() == 1);
  CHECK(server.get_json("/api/run/a")["steps"] == 10);
  CHECK(server.get("/api/run/b").status == 404);
  Server within(folder, ".", "runs/a");
  CHECK(within.get_json("/api/runs")["runs"][0]["name"] == "a");
  CHECK(within.get_json("/api/run/a")["name"] == "a");
  CHECK(within.get("/api/picture/a/x.png").status == 200);

  const std::string port = std::to_string(server.port());
  const Finished busy = folder.run({"serve", "runs", "--port", port});
  CHECK(busy.code == 1);
  CHECK(busy.err == "lunagrad serve: port " + port + " of 127.0.0.1 is in use; --port 0 takes a free one\n");
  CHECK(folder.run({"serve", "nowhere"}).code == 6);
  CHECK(folder.run({"serve", "runs", "--port", "70000"}).code == 2);
  CHECK(folder.run({"serve", "runs", "--host", "203.0.113.1", "--port", "0"}).code == 1);
  server.program().signal(SIGTERM);
  CHECK(server.program().finish().code == 143);
}
