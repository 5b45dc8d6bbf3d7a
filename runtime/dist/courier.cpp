#include "runtime/dist/courier.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "runtime/context.h"
#include "runtime/error.h"

namespace lunagrad::dist {
namespace {

// The world has broken: the report is printed, and the thread ends all ranks.
struct Broken {
  std::string message;
};

constexpr std::chrono::milliseconds kIdle{20};          // between two looks at notes without a job
constexpr std::chrono::milliseconds kBetweenNotes{50};  // the same while bytes travel
constexpr std::chrono::microseconds kShortNap{5}, kNap{50};
constexpr int kSpins = 20, kShortNaps = 200;  // looks at a meeting without a nap, and with short ones
constexpr double kAnswerSeconds = 3;          // in which a living rank says where it is
constexpr double kEndSeconds = 2;             // in which a script may end after its error
constexpr int64_t kSmall = 1 << 14;           // bytes of a sum that every rank adds by itself
constexpr int64_t kPiece = int64_t(1) << 26;  // elements of a sum that travel at a time

std::chrono::steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(value));
}

// "rank 2", "ranks 0, 1 and 3"
std::string ranks_text(const std::vector<int>& ranks) {
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    list += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return list;
}

// "rank 2 is at model.lua:41, all_reduce of fc1.weight; ranks 0 and 1 at train.lua:19, barrier"
std::string places_text(const std::vector<std::string>& places) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (size_t rank = 0; rank < places.size(); ++rank) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == places[rank]; });
    if (same == groups.end())
      groups.push_back({places[rank], {int(rank)}});
    else
      same->second.push_back(int(rank));
  }
  // The fewest ranks first: they are most likely those that went astray.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string list;
  for (const auto& [place, ranks] : groups)
    list += (list.empty() ? "" : "; ") + ranks_text(ranks) + (ranks.size() == 1 ? " is " : " are ") + place;
  return list;
}

// The elements of each rank when `count` are divided evenly: the first ranks have one more.
Transport::Counts divide(int64_t count, int size) {
  Transport::Counts counts(size_t(size), count / size);
  for (int64_t i = 0; i < count % size; ++i) ++counts[size_t(i)];
  return counts;
}

int64_t sum_of(const std::vector<int64_t>& counts) {
  int64_t sum = 0;
  for (const int64_t count : counts) sum += count;
  return sum;
}

// The places of `n` blocks of `count` elements that follow one another.
std::vector<const void*> blocks_in(const char* memory, int n, int64_t count, size_t item) {
  std::vector<const void*> blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(memory + size_t(i) * size_t(count) * item);
  return blocks;
}

}  // namespace

// What a rank tells the others before a collective.
struct Courier::Mark {
  uint64_t number, hash;
  int64_t rows;
  char place[360];
};

Courier::Courier(CourierOptions options) : options_(std::move(options)) {
  if (!options_.open) {
    transport_ = make_alone();
    opened_ = true;
    return;
  }
  thread_ = std::thread([this] { serve(); });
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return opened_ || !failed_.empty(); });
  if (opened_) return;
  lock.unlock();
  thread_.join();
  throw Error(failed_);
}

Courier::~Courier() {
  if (thread_.joinable()) thread_.detach();  // only at an exit of the process that closed nothing
}

void Courier::post(const std::shared_ptr<Job>& job) {
  if (size_ == 1 && !thread_.joinable()) {
    carry_out(*job);
    job->done = true;
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!failed_.empty()) throw Error(failed_);
  queue_.push_back(job);
  posted_.notify_one();
}

bool Courier::done(const Job& job) {
  const std::lock_guard lock(mutex_);
  return job.done;
}

void Courier::wait(const Job& job) {
  std::unique_lock lock(mutex_);
  while (!job.done) {
    finished_.wait_for(lock, kIdle);
    if (job.done) break;
    lock.unlock();
    context().check_stop();
    lock.lock();
  }
  if (!job.error.empty()) throw Error(job.error);
}

void Courier::set_whereabouts(std::function<std::string()> whereabouts) {
  const std::lock_guard lock(mutex_);
  whereabouts_ = std::move(whereabouts);
}

int Courier::close(int code) {
  if (!thread_.joinable()) return code;
  if (code == 0) {
    const auto job = std::make_shared<Job>();
    job->kind = Kind::meeting;
    job->what = "end of the script";
    job->place = "at the end of the script";
    try {
      post(job);
      wait(*job);
    } catch (const std::exception&) {  // reported already
      code = 1;
    }
  }
  std::fflush(nullptr);
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    abort_code_ = code;
    posted_.notify_one();
  }
  thread_.join();
  return code;
}

void Courier::serve() {
  try {
    transport_ = options_.open();
    rank_ = transport_->rank();
    size_ = transport_->size();
    local_rank_ = transport_->local_rank();
    local_size_ = transport_->local_size();
    places_.resize(size_t(size_));
    printed_.resize(size_t(size_));
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failed_ = error.what();
    finished_.notify_all();
    return;
  }
#ifdef __linux__
  // Linux lengthens naps by 50 us, in which the buffers of a link between two processes run empty.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
#endif
  std::unique_lock lock(mutex_);
  opened_ = true;
  finished_.notify_all();
  while (!closing_) {
    std::shared_ptr<Job> job;
    if (!queue_.empty()) {
      job = queue_.front();
      queue_.pop_front();
    } else {
      posted_.wait_for(lock, kIdle);
    }
    lock.unlock();
    std::string problem, broken;
    try {
      if (job)
        carry_out(*job);
      else
        read_notes();
    } catch (const Broken& end) {
      problem = broken = end.message;
    } catch (const std::exception& error) {
      problem = error.what();
    }
    lock.lock();
    if (job) {
      job->error = problem;
      job->done = true;
    }
    if (!broken.empty()) {
      failed_ = broken;
      for (const auto& later : queue_) later->error = broken, later->done = true;
      queue_.clear();
      finished_.notify_all();
      // The script ends with the error. One that is in no collective is not told, so it is not waited for.
      posted_.wait_for(lock, seconds(kEndSeconds), [&] { return closing_; });
      std::fflush(nullptr);
      transport_->abort(1);
    }
    finished_.notify_all();
  }
  const int code = abort_code_;
  lock.unlock();
  if (code != 0) transport_->abort(code);
  transport_->close();
}

void Courier::carry_out(Job& job) {
  active_ = &job;
  struct Leave {
    const Job*& active;
    ~Leave() { active = nullptr; }
  } const leave{active_};
  if (job.ready) job.ready();
  compare(job);
  move(job);
  if (options_.slow_link > 0)
    std::this_thread::sleep_for(
        seconds(options_.slow_link * double(job.rows * job.row) * double(item_size(job.dtype))));
}

// Waits for the exchange that was started last. `meeting`: other ranks may come late.
void Courier::finish_exchange(bool meeting) {
  const Clock::time_point start = Clock::now();
  for (int looks = 0; !transport_->done(); ++looks) {
    const Clock::time_point now = Clock::now();
    if (now >= next_notes_) read_notes();
    if (std::isfinite(options_.patience) && now - start > seconds(options_.patience)) report_silence(true);
    // No yield: beside a thread that computes, one that yields waits for a whole time slice, one that naps
    // wakes.
    if (looks >= kSpins) std::this_thread::sleep_for(meeting && looks >= kShortNaps ? kNap : kShortNap);
  }
}

// All ranks tell one another in which collective they are.
void Courier::compare(const Job& job) {
  ++number_;
  rows_of_.assign(size_t(size_), job.rows);
  if (size_ == 1) return;
  Mark own{};
  own.number = number_;
  own.hash = std::hash<std::string>()(job.what);
  own.rows = job.rows;
  std::strncpy(own.place, job.place.c_str(), sizeof own.place - 1);
  std::vector<Mark> all(size_t(size_), Mark{});
  transport_->start_gather(&own, all.data(), Transport::Counts(size_t(size_), 1), sizeof(Mark));
  finish_exchange(true);
  bool same = true;
  for (size_t i = 0; i < all.size(); ++i) {
    rows_of_[i] = all[i].rows;
    same &= all[i].number == own.number && all[i].hash == own.hash;
  }
  if (same) return;
  std::vector<std::string> places;
  for (const Mark& mark : all) places.push_back(mark.place);
  report(text("the ranks are in different collectives (number ", number_, ")"), places);
}

void Courier::move(Job& job) {
  const size_t unit = item_size(job.dtype) * size_t(job.row);
  switch (job.kind) {
    case Kind::all_reduce:
      return all_reduce(job);
    case Kind::broadcast:
      transport_->start_broadcast(job.out, job.rows * job.row, item_size(job.dtype), job.root);
      return finish_exchange();
    case Kind::all_gather:
      job.rows_from = rows_of_;
      if (unit == 0) return;
      job.result.reset(new char[std::max<size_t>(1, size_t(sum_of(rows_of_)) * unit)]);
      transport_->start_gather(job.in, job.result.get(), rows_of_, unit);
      return finish_exchange();
    case Kind::reduce_scatter:
      return reduce_scatter(job);
    case Kind::all_to_all:
      return all_to_all(job);
    case Kind::barrier:
    case Kind::meeting:
      return;  // the comparison was the meeting
  }
}

// Memory for what the other ranks send. It is kept, since new pages cost as much as the additions.
char* Courier::room(size_t bytes) {
  constexpr size_t kKept = size_t(256) << 20;
  if (bytes > room_bytes_ || room_bytes_ > kKept) {
    room_.reset();
    room_bytes_ = 0;
    room_.reset(new char[std::max<size_t>(1, bytes)]);
    room_bytes_ = bytes;
  }
  return room_.get();
}

void Courier::all_reduce(Job& job) {
  const size_t item = item_size(job.dtype);
  const int64_t count = job.rows * job.row;
  const auto* const in = static_cast<const char*>(job.in);
  auto* const out = static_cast<char*>(job.out);
  if (size_ == 1) {
    if (in != out && count > 0) std::memcpy(out, in, size_t(count) * item);
    return;
  }
  if (count * int64_t(item) * size_ <= kSmall) {
    char* const all = room(size_t(count * size_) * item);
    transport_->start_gather(in, all, Transport::Counts(size_t(size_), count), item);
    finish_exchange();
    const auto blocks = blocks_in(all, size_, count, item);
    return reduce(job.reduction, job.dtype, blocks.data(), size_, count, out);
  }
  // Each rank adds a share of the elements, and all gather the shares.
  for (int64_t at = 0; at < count; at += kPiece) {
    const int64_t here = std::min(kPiece, count - at);
    const Transport::Counts shares = divide(here, size_);
    const int64_t share = shares[size_t(rank_)];
    char* const received = room(size_t(share * (size_ + 1)) * item);
    transport_->start_exchange(in + size_t(at) * item, shares, received,
                               Transport::Counts(size_t(size_), share), item);
    finish_exchange();
    char* const sum = received + size_t(share * size_) * item;
    const auto blocks = blocks_in(received, size_, share, item);
    reduce(job.reduction, job.dtype, blocks.data(), size_, share, sum);
    transport_->start_gather(sum, out + size_t(at) * item, shares, item);
    finish_exchange();
  }
}

void Courier::reduce_scatter(Job& job) {
  const size_t item = item_size(job.dtype);
  Transport::Counts out_counts;
  for (const int64_t rows : job.sizes) out_counts.push_back(rows * job.row);
  const int64_t share = out_counts[size_t(rank_)];
  char* const received = room(size_t(share * size_) * item);
  transport_->start_exchange(job.in, out_counts, received, Transport::Counts(size_t(size_), share), item);
  finish_exchange();
  const auto blocks = blocks_in(received, size_, share, item);
  reduce(job.reduction, job.dtype, blocks.data(), size_, share, job.out);
}

void Courier::all_to_all(Job& job) {
  const Transport::Counts one(size_t(size_), 1);
  job.rows_from.resize(size_t(size_));
  transport_->start_exchange(job.sizes.data(), one, job.rows_from.data(), one, sizeof(int64_t));
  finish_exchange();
  const size_t unit = item_size(job.dtype) * size_t(job.row);
  if (unit == 0) return;
  job.result.reset(new char[std::max<size_t>(1, size_t(sum_of(job.rows_from)) * unit)]);
  transport_->start_exchange(job.in, job.sizes, job.result.get(), job.rows_from, unit);
  finish_exchange();
}

// ---- reports

std::string Courier::own_place() {
  if (active_) return active_->place;
  const std::lock_guard lock(mutex_);
  const std::string line = whereabouts_ ? whereabouts_() : "";
  return line.empty() ? "outside of the collectives" : "at " + line + ", in no collective";
}

void Courier::read_notes() {
  next_notes_ = Clock::now() + kBetweenNotes;
  while (const auto note = transport_->next_note()) {
    const auto& [from, said] = *note;
    if (said[0] == 'p') {
      printed_[size_t(from)] = true;
    } else {
      places_[size_t(from)] = said.substr(1);
      alarm_ |= said[0] == '!';
    }
  }
  if (alarm_) report_silence(false);
}

// Reads notes until each rank has sent one of that kind; false after so many seconds.
bool Courier::all_noted(char sign, double limit) {
  const Clock::time_point end = Clock::now() + seconds(limit);
  for (;;) {
    while (const auto note = transport_->next_note()) {
      const auto& [from, said] = *note;
      if (said[0] == 'p')
        printed_[size_t(from)] = true;
      else
        places_[size_t(from)] = said.substr(1);
    }
    bool all = true;
    for (size_t i = 0; i < size_t(size_); ++i) all &= sign == 'p' ? printed_[i] : !places_[i].empty();
    if (all) return true;
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kIdle / 4);
  }
}

// A rank did not come: this one noticed (own), or another one said so.
void Courier::report_silence(bool own) {
  places_[size_t(rank_)] = own_place();
  for (int to = 0; to < size_; ++to)
    if (to != rank_) transport_->send_note(to, (own ? "!" : "=") + places_[size_t(rank_)]);
  all_noted('=', kAnswerSeconds);
  for (std::string& place : places_)
    if (place.empty()) place = "not answering";
  report(text("nothing arrived for ", options_.patience, " s (collective number ", number_, ")"), places_);
}

void Courier::report(const std::string& problem, const std::vector<std::string>& places) {
  const std::string message = "distributed: " + problem + ": " + places_text(places);
  std::fprintf(stderr, "lunagrad: rank %d: %s\n", rank_, message.c_str());
  std::fflush(stderr);
  // All have printed before the first one ends them all.
  printed_[size_t(rank_)] = true;
  for (int to = 0; to < size_; ++to)
    if (to != rank_) transport_->send_note(to, "p");
  all_noted('p', kAnswerSeconds);
  throw Broken{"distributed: " + problem};
}

}  // namespace lunagrad::dist
