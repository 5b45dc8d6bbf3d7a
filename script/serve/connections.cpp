#include "script/serve/connections.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kStretch = size_t(64) << 10;  // bytes of a reply that a client must accept in stall_seconds
// bytes after a request that are read before the connection is closed
constexpr size_t kMostIgnored = size_t(64) << 10;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The key of a client: the whole IPv4 address, or the network of an IPv6 address.
std::string client_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    return {reinterpret_cast<const char*>(&ip), sizeof ip};
  }
  if (address.ss_family != AF_INET6) return {};
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  const char* const bytes = reinterpret_cast<const char*>(&ip);
  return IN6_IS_ADDR_V4MAPPED(&ip) ? std::string(bytes + 12, 4) : std::string(bytes, 8);
}

}  // namespace

class Connections::Impl {
  struct Connection {
    // `ending`: the reply was sent, and further bytes of the client are read and ignored; closing at once
    // could lose the reply.
    enum class State { reading, answering, sending, ending };
    int socket;
    std::string client;
    Clock::time_point deadline;
    State state = State::reading;
    std::string bytes = {};  // the request, then the reply
    size_t done = 0;         // bytes of the reply that were sent; in `ending`, bytes ignored
  };

 public:
  Impl(ConnectionLimits limits, Answer answer, Refusal refusal)
      : limits_(limits), answer_(std::move(answer)), refusal_(std::move(refusal)) {}

  ~Impl() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    asked_.notify_all();
    if (wake_ >= 0) wake();
    for (std::thread& thread : threads_) thread.join();
    for (const auto& [id, connection] : connections_) close(connection.socket);
    for (const int socket : {listener_, wake_})
      if (socket >= 0) close(socket);
  }

  int listen(const std::string& host, int port) {
    listener_ = bind_to(host, port);
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) fail("serve: ", std::strerror(errno));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size);
    const in_port_t found = own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(own).sin6_port
                                                      : reinterpret_cast<sockaddr_in&>(own).sin_port;
    threads_.emplace_back([this] { serve(); });
    for (int i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { answer_requests(); });
    return ntohs(found);
  }

 private:
  static int bind_to(const std::string& host, int port) {
    const std::string at = text(host, port ? text(" port ", port) : std::string());
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list) != 0)
      fail("cannot listen on ", at, ": not an address of this machine");
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> held(list, freeaddrinfo);
    int reason = 0;
    for (const addrinfo* one = list; one; one = one->ai_next) {
      const int made = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      const int yes = 1;
      if (made >= 0) setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      if (made >= 0 && bind(made, one->ai_addr, one->ai_addrlen) == 0 && ::listen(made, SOMAXCONN) == 0)
        return made;
      reason = errno;
      if (made >= 0) close(made);
    }
    if (reason == EADDRINUSE) fail("port ", port, " of ", host, " is in use; --port 0 takes a free one");
    fail("cannot listen on ", at, ": ", std::strerror(reason));
  }

  void wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);  // full: the thread wakes anyway
  }

  // ---- the threads that answer

  void answer_requests() {
    std::unique_lock lock(mutex_);
    while (true) {
      asked_.wait(lock, [&] { return stopping_ || !requests_.empty(); });
      if (stopping_) return;
      const auto [id, head] = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      std::string reply = answer_(head);
      lock.lock();
      replies_.emplace_back(id, std::move(reply));
      wake();
    }
  }

  // ---- the thread of the connections

  using Places = std::map<uint64_t, Connection>;  // by age

  void serve() {
    std::vector<pollfd> polled;
    std::vector<uint64_t> ids;
    while (true) {
      polled = {{wake_, POLLIN, 0}, {listener_, short(Clock::now() < pause_ ? 0 : POLLIN), 0}};
      ids.clear();
      std::optional<Clock::time_point> first;
      if (Clock::now() < pause_) first = pause_;
      for (const auto& [id, connection] : connections_) {
        if (connection.state == Connection::State::answering) continue;
        const bool sends = connection.state == Connection::State::sending;
        polled.push_back({connection.socket, short(sends ? POLLOUT : POLLIN), 0});
        ids.push_back(id);
        if (!first || connection.deadline < *first) first = connection.deadline;
      }
      int wait = -1;
      if (first) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(*first - Clock::now()).count();
        wait = int(std::clamp<int64_t>(left + 1, 0, 60000));
      }
      poll(polled.data(), polled.size(), wait);
      if (polled[0].revents && !take_replies()) return;
      for (size_t i = 0; i < ids.size(); ++i)
        if (const auto place = connections_.find(ids[i]); place != connections_.end()) {
          if (polled[i + 2].revents) go_on(place);
        }
      end_late();
      if (polled[1].revents) accept_all();
    }
  }

  // Returns false when the server ends.
  bool take_replies() {
    uint64_t count;
    [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof count);
    std::vector<std::pair<uint64_t, std::string>> replies;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return false;
      replies.swap(replies_);
    }
    for (auto& [id, reply] : replies)
      if (const auto place = connections_.find(id); place != connections_.end())
        send(place, std::move(reply));
    return true;
  }

  void accept_all() {
    while (true) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      const int socket =
          accept4(listener_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) {
        // Out of descriptors or memory: wait until a connection ends.
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) pause_ = after(0.1);
        if (errno == EINTR || errno == ECONNABORTED) continue;
        return;
      }
      std::string client = client_of(address);
      const auto of_client = [&](const Connection& one) { return one.client == client; };
      const auto all = [](const Connection&) { return true; };
      if (!has_room(limits_.of_one_client, of_client) || !has_room(limits_.connections, all)) {
        const std::string reply = refusal_(503);
        ::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        close(socket);
        continue;
      }
      connections_.emplace(next_id_++, Connection{socket, std::move(client), after(limits_.head_seconds)});
    }
  }

  // Whether there are fewer than `most` connections for which `counted` is true. If there are not, closes the
  // one that has waited longest, if any waits.
  template <class F>
  bool has_room(size_t most, F&& counted) {
    size_t count = 0;
    auto oldest = connections_.end();
    for (auto place = connections_.begin(); place != connections_.end(); ++place) {
      if (!counted(place->second)) continue;
      ++count;
      const bool waits = place->second.state == Connection::State::reading ||
                         place->second.state == Connection::State::ending;
      if (waits && oldest == connections_.end()) oldest = place;
    }
    if (count < most) return true;
    if (oldest == connections_.end()) return false;
    end(oldest);
    return true;
  }

  void end(Places::iterator place) {
    close(place->second.socket);
    if (place->second.state == Connection::State::sending) waiting_ -= place->second.bytes.size();
    connections_.erase(place);
  }

  void end_late() {
    const Clock::time_point now = Clock::now();
    for (auto place = connections_.begin(); place != connections_.end();) {
      const auto next = std::next(place);
      const Connection& one = place->second;
      if (one.state != Connection::State::answering && one.deadline <= now) {
        if (one.state == Connection::State::reading && !one.bytes.empty())
          send(place, refusal_(408));
        else
          end(place);
      }
      place = next;
    }
  }

  void go_on(Places::iterator place) {
    switch (place->second.state) {
      case Connection::State::reading:
        return receive(place);
      case Connection::State::sending:
        return send_more(place);
      case Connection::State::ending:
        return ignore(place);
      case Connection::State::answering:
        return;
    }
  }

  static bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  void receive(Places::iterator place) {
    Connection& one = place->second;
    char block[4096];
    const ssize_t got = recv(one.socket, block, sizeof block, 0);
    if (got < 0 && would_wait()) return;
    if (got <= 0) return end(place);
    const size_t from = one.bytes.size() < 3 ? 0 : one.bytes.size() - 3;
    one.bytes.append(block, size_t(got));
    const size_t empty_line = one.bytes.find("\r\n\r\n", from);
    if (empty_line == std::string::npos ? one.bytes.size() > limits_.head_bytes
                                        : empty_line + 4 > limits_.head_bytes)
      return send(place, refusal_(431));
    if (empty_line == std::string::npos) return;
    one.bytes.resize(empty_line + 4);
    one.state = Connection::State::answering;
    {
      std::lock_guard lock(mutex_);
      requests_.emplace_back(place->first, std::exchange(one.bytes, {}));
    }
    asked_.notify_one();
  }

  void send(Places::iterator place, std::string reply) {
    Connection& one = place->second;
    if (waiting_ + reply.size() > limits_.reply_bytes) reply = refusal_(503);
    waiting_ += reply.size();
    one.bytes = std::move(reply);
    one.done = 0;
    one.state = Connection::State::sending;
    one.deadline = after(limits_.stall_seconds);
    send_more(place);
  }

  void send_more(Places::iterator place) {
    Connection& one = place->second;
    while (one.done < one.bytes.size()) {
      const ssize_t sent =
          ::send(one.socket, one.bytes.data() + one.done, one.bytes.size() - one.done, MSG_NOSIGNAL);
      if (sent < 0 && would_wait()) return;
      if (sent <= 0) return end(place);
      const size_t before = one.done;
      one.done += size_t(sent);
      if (before / kStretch != one.done / kStretch) one.deadline = after(limits_.stall_seconds);
    }
    waiting_ -= one.bytes.size();
    one.bytes = {};
    one.done = 0;
    one.state = Connection::State::ending;
    one.deadline = after(std::min(limits_.stall_seconds, 1.0));
    shutdown(one.socket, SHUT_WR);
  }

  void ignore(Places::iterator place) {
    Connection& one = place->second;
    char block[4096];
    const ssize_t got = recv(one.socket, block, sizeof block, 0);
    if (got < 0 && would_wait()) return;
    if (got > 0) one.done += size_t(got);
    if (got <= 0 || one.done > kMostIgnored) end(place);
  }

  const ConnectionLimits limits_;
  const Answer answer_;
  const Refusal refusal_;
  int listener_ = -1, wake_ = -1;
  // For the thread of the connections only.
  Places connections_;
  uint64_t next_id_ = 0;
  size_t waiting_ = 0;  // bytes of replies that wait for clients
  Clock::time_point pause_ = {};
  std::mutex mutex_;  // guards the following members
  std::condition_variable asked_;
  std::deque<std::pair<uint64_t, std::string>> requests_;
  std::vector<std::pair<uint64_t, std::string>> replies_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

Connections::Connections(ConnectionLimits limits, Answer answer, Refusal refusal)
    : impl_(std::make_unique<Impl>(limits, std::move(answer), std::move(refusal))) {}

Connections::~Connections() = default;

int Connections::listen(const std::string& host, int port) { return impl_->listen(host, port); }

}  // namespace lunagrad
