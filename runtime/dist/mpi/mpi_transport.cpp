// The transport of MPI 3.1, in its own library, so that everything else runs on a machine without MPI. Only
// the thread that opens it may call it (MPI_THREAD_FUNNELED).
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/dist/transport.h"
#include "runtime/system/processes.h"

namespace lunagrad::dist {
namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, message, &length);
  fail("MPI: ", what, ": ", std::string(message, size_t(length)));
}

// Counts and offsets of the blocks, as MPI takes them.
struct Layout {
  std::vector<int> counts, places;
  explicit Layout(const Transport::Counts& given, const Transport::Counts& given_places = {}) {
    int64_t place = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given_places.empty()) place = given_places[i];
      const int64_t count = given[i];
      if (place + count > INT_MAX)
        fail("distributed: ", place + count, " units in one exchange; MPI takes ", INT_MAX, " at most");
      counts.push_back(int(count));
      places.push_back(int(place));
      place += count;
    }
  }
};

constexpr size_t kMessage = size_t(1) << 30;  // bytes of a message; MPI counts them in an int

class Mpi final : public Transport {
 public:
  Mpi() {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "MPI_Comm_dup");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &notes_), "MPI_Comm_dup");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &pairs_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(pairs_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(notes_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
    MPI_Comm machine;
    check(MPI_Comm_split_type(data_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
          "MPI_Comm_split_type");
    MPI_Comm_rank(machine, &local_rank_);
    MPI_Comm_size(machine, &local_size_);
    MPI_Comm_free(&machine);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }

  void start_gather(const void* own, void* all, const Counts& counts, size_t unit) override {
    begin(unit);
    layouts_.emplace_back(counts);
    check(MPI_Iallgatherv(own, layouts_[0].counts[size_t(rank_)], type_, all, layouts_[0].counts.data(),
                          layouts_[0].places.data(), type_, data_, &request_),
          "MPI_Iallgatherv");
  }
  void start_exchange(const void* out, const Counts& out_counts, void* in, const Counts& in_counts,
                      size_t unit, const Counts& out_places) override {
    begin(unit);
    layouts_.emplace_back(out_counts, out_places);
    layouts_.emplace_back(in_counts);
    check(MPI_Ialltoallv(out, layouts_[0].counts.data(), layouts_[0].places.data(), type_, in,
                         layouts_[1].counts.data(), layouts_[1].places.data(), type_, data_, &request_),
          "MPI_Ialltoallv");
  }
  void start_broadcast(void* data, int64_t count, size_t unit, int root) override {
    begin(unit);
    layouts_.emplace_back(Counts{count});
    check(MPI_Ibcast(data, layouts_[0].counts[0], type_, root, data_, &request_), "MPI_Ibcast");
  }
  bool done() override {
    int flag = 0;
    check(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (flag && type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    return flag && !renews_more();
  }
  void start_renewal() override {
    left_.push_back(std::move(layouts_));
    layouts_.clear();
    type_ = MPI_DATATYPE_NULL;
    transfers_.clear();
    renews_ = {&data_, &pairs_};
    begin_renewal();
  }

  int start_send(const void* data, size_t bytes, int to, Piece piece) override {
    const auto* const from = static_cast<const char*>(data);
    return start(bytes, [&](size_t at, int count, MPI_Request* request) {
      check(MPI_Isend(from + at, count, MPI_BYTE, to, int(piece), pairs_, request), "MPI_Isend");
    });
  }
  int start_receive(void* data, size_t bytes, int from, Piece piece) override {
    auto* const to = static_cast<char*>(data);
    return start(bytes, [&](size_t at, int count, MPI_Request* request) {
      check(MPI_Irecv(to + at, count, MPI_BYTE, from, int(piece), pairs_, request), "MPI_Irecv");
    });
  }
  bool passed(int transfer) override {
    const auto found = transfers_.find(transfer);
    int flag = 0;
    check(MPI_Testall(int(found->second.size()), found->second.data(), &flag, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (flag) transfers_.erase(found);
    return flag != 0;
  }

  void send_note(int to, const std::string& text) override {
    sent_.push_back({text, MPI_REQUEST_NULL});
    Note& note = sent_.back();
    check(MPI_Isend(note.text.data(), int(note.text.size()), MPI_CHAR, to, 0, notes_, &note.request),
          "MPI_Isend");
  }
  std::optional<std::pair<int, std::string>> next_note() override {
    forget_sent();
    int there = 0, length = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, notes_, &there, &status), "MPI_Iprobe");
    if (!there) return std::nullopt;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string text(size_t(length), '\0');
    check(MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, 0, notes_, MPI_STATUS_IGNORE),
          "MPI_Recv");
    return std::pair(status.MPI_SOURCE, std::move(text));
  }
  bool notes_gone() override {
    forget_sent();
    return sent_.empty();
  }

  void close() override { MPI_Finalize(); }
  void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Note {
    std::string text;
    MPI_Request request;
  };

  void forget_sent() {
    for (int flag = 1; flag && !sent_.empty();) {
      check(MPI_Test(&sent_.front().request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
      if (flag) sent_.pop_front();
    }
  }

  // Begins to renew a communicator; they are renewed one after the other.
  void begin_renewal() { check(MPI_Comm_idup(MPI_COMM_WORLD, renews_[0], &request_), "MPI_Comm_idup"); }
  bool renews_more() {
    if (renews_.empty()) return false;
    MPI_Comm_set_errhandler(*renews_[0], MPI_ERRORS_RETURN);
    renews_.erase(renews_.begin());
    if (!renews_.empty()) begin_renewal();
    return !renews_.empty();
  }

  template <class F>
  int start(size_t bytes, F&& message) {
    std::vector<MPI_Request>& requests = transfers_[++started_];
    for (size_t at = 0; at == 0 || at < bytes; at += kMessage)
      message(at, int(std::min(kMessage, bytes - at)), &requests.emplace_back(MPI_REQUEST_NULL));
    return started_;
  }

  void begin(size_t unit) {
    layouts_.clear();
    check(MPI_Type_contiguous(int(unit), MPI_BYTE, &type_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }

  MPI_Comm data_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL, pairs_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<Layout> layouts_;            // of the running exchange
  std::vector<std::vector<Layout>> left_;  // of abandoned exchanges, which MPI may still read
  std::vector<MPI_Comm*> renews_;          // communicators still to be renewed
  std::map<int, std::vector<MPI_Request>> transfers_;
  int started_ = 0;
  std::deque<Note> sent_;
};

}  // namespace
}  // namespace lunagrad::dist

extern "C" __attribute__((visibility("default"))) lunagrad::dist::Transport* lunagrad_open_mpi(
    const char** why) {
  static std::string problem;
  try {
    // By default Open MPI would yield at every poll of a request, and then wait for a whole time slice of the
    // computing threads.
    constexpr const char* kYield = "OMPI_MCA_mpi_yield_when_idle";
    if (!std::getenv(kYield)) lunagrad::set_variable(kYield, "0");
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
      *why = "MPI_Init_thread failed";
      return nullptr;
    }
    return new lunagrad::dist::Mpi;
  } catch (const std::exception& error) {
    problem = error.what();
    *why = problem.c_str();
    return nullptr;
  }
}
