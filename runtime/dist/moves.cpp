// Sends and receives the elements of a collective, after all ranks have agreed that they are in it.
#include <algorithm>
#include <cstring>

#include "runtime/dist/transfer_thread.h"

namespace lunagrad::dist {
namespace {

constexpr int64_t kSmall = 1 << 14;  // bytes of all ranks up to which each rank computes the whole sum
constexpr int64_t kPiece = int64_t(1) << 26;  // elements of an all_reduce that are sent at a time
constexpr int64_t kRoom = int64_t(16) << 20;  // bytes of a reduce_scatter that a rank receives at a time
constexpr int64_t kSmallPart = 1 << 16;       // bytes of a tensor below which it shares a message with others

// The elements of each rank when `count` elements are divided evenly: the first ranks have one more.
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

// The addresses of `n` consecutive blocks of `count` elements.
std::vector<const void*> blocks_in(const char* memory, int n, int64_t count, size_t item) {
  std::vector<const void*> blocks;
  for (int i = 0; i < n; ++i) blocks.push_back(memory + size_t(i) * size_t(count) * item);
  return blocks;
}

Transport::Counts elements_of(const Part& part) {
  Transport::Counts counts = part.rows;
  for (int64_t& count : counts) count *= part.row;
  return counts;
}

// Large parts are sent alone; small parts are sent together.
struct Sorted {
  std::vector<size_t> large, small;
  Transport::Counts small_counts;  // elements of the small parts on each rank
  Sorted(const std::vector<Part>& parts, size_t item, int size) : small_counts(size_t(size)) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const Transport::Counts counts = elements_of(parts[i]);
      const bool is_small = parts.size() > 1 && sum_of(counts) * int64_t(item) < kSmallPart;
      (is_small ? small : large).push_back(i);
      for (size_t r = 0; is_small && r < counts.size(); ++r) small_counts[r] += counts[r];
    }
  }
};

char* append(char* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

}  // namespace

void TransferThread::move(Job& job) {
  switch (job.kind) {
    case Kind::all_reduce:
      return all_reduce(job);
    case Kind::broadcast:
      transport_->start_broadcast(job.out, job.rows * job.row, item_size(job.dtype), job.root);
      return finish_exchange();
    case Kind::all_gather:
      return all_gather(job);
    case Kind::reduce_scatter:
      return reduce_scatter(job);
    case Kind::all_to_all:
      return all_to_all(job);
    case Kind::send:
    case Kind::receive:  // in transfers.h
    case Kind::barrier:
    case Kind::meeting:
      return;  // comparing was all there is to do
  }
}

// Memory for the other ranks' data, kept until the job ends: so the CPU's allocator keeps the pages for the
// next request.
char* TransferThread::room(size_t bytes) {
  if (bytes > room_.bytes()) {
    room_ = Block();
    room_ = Block(bytes);
  }
  return room_.data();
}

void TransferThread::all_reduce(Job& job) {
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
  // Each rank adds up a share of the elements, and all gather the shares.
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

// Large tensors are received in place; small tensors come in one message.
void TransferThread::all_gather(Job& job) {
  const size_t item = item_size(job.dtype);
  if (job.parts.empty()) {
    job.parts.push_back({job.in, job.row, rows_of_});
    job.rows_from = rows_of_;
  }
  for (const Part& part : job.parts) {
    const int64_t rows = sum_of(part.rows);
    job.results.push_back({Block(size_t(rows * part.row) * item), rows});
  }
  const Sorted sorted(job.parts, item, size_);
  for (const size_t i : sorted.large) {
    const Part& part = job.parts[i];
    if (part.row == 0) continue;
    transport_->start_gather(part.in, job.results[i].block.data(), part.rows, size_t(part.row) * item);
    finish_exchange();
  }
  if (sorted.small.empty()) return;
  const auto own = size_t(sorted.small_counts[size_t(rank_)]) * item;
  char* const sent = room(own + size_t(sum_of(sorted.small_counts)) * item);
  char* const received = sent + own;
  char* at = sent;
  for (const size_t i : sorted.small)
    at = append(at, job.parts[i].in, size_t(elements_of(job.parts[i])[size_t(rank_)]) * item);
  transport_->start_gather(sent, received, sorted.small_counts, item);
  finish_exchange();
  std::vector<char*> ends(job.parts.size());
  for (const size_t i : sorted.small) ends[i] = job.results[i].block.data();
  const char* from = received;
  for (size_t r = 0; r < size_t(size_); ++r) {
    for (const size_t i : sorted.small) {
      const size_t bytes = size_t(elements_of(job.parts[i])[r]) * item;
      ends[i] = append(ends[i], from, bytes);
      from += bytes;
    }
  }
}

// Adds up this rank's elements of a tensor, a piece at a time, so that the other ranks' parts need little
// memory.
void TransferThread::reduce_part(Job& job, const void* in, const Transport::Counts& counts, void* out) {
  const size_t item = item_size(job.dtype);
  const int64_t piece = std::max<int64_t>(1, kRoom / int64_t(item) / size_);
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  for (int64_t at = 0; at < most; at += piece) {
    Transport::Counts here, places;
    int64_t first = 0;
    for (const int64_t count : counts) {
      const int64_t begin = std::min(at, count);
      here.push_back(std::min(piece, count - begin));
      places.push_back(first + begin);
      first += count;
    }
    const int64_t own = here[size_t(rank_)];
    char* const received = room(size_t(own * size_) * item);
    transport_->start_exchange(in, here, received, Transport::Counts(size_t(size_), own), item, places);
    finish_exchange();
    const auto blocks = blocks_in(received, size_, own, item);
    reduce(job.reduction, job.dtype, blocks.data(), size_, own, static_cast<char*>(out) + size_t(at) * item);
  }
}

void TransferThread::reduce_scatter(Job& job) {
  const size_t item = item_size(job.dtype);
  for (const Part& part : job.parts) {
    const int64_t rows = part.rows[size_t(rank_)];
    job.results.push_back({Block(size_t(rows * part.row) * item), rows});
  }
  const Sorted sorted(job.parts, item, size_);
  for (const size_t i : sorted.large)
    reduce_part(job, job.parts[i].in, elements_of(job.parts[i]), job.results[i].block.data());
  if (!sorted.small.empty()) {
    // As one of the inputs it stays alive when an exchange is called off.
    job.inputs.push_back(Block(size_t(sum_of(sorted.small_counts)) * item));
    char* const sent = job.inputs.back().data();
    const Block sum(size_t(sorted.small_counts[size_t(rank_)]) * item);
    std::vector<const char*> begins(job.parts.size());
    for (const size_t i : sorted.small) begins[i] = static_cast<const char*>(job.parts[i].in);
    char* at = sent;
    for (size_t r = 0; r < size_t(size_); ++r) {
      for (const size_t i : sorted.small) {
        const size_t bytes = size_t(elements_of(job.parts[i])[r]) * item;
        at = append(at, begins[i], bytes);
        begins[i] += bytes;
      }
    }
    reduce_part(job, sent, sorted.small_counts, sum.data());
    const char* from = sum.data();
    for (const size_t i : sorted.small) {
      const size_t bytes = job.results[i].block.bytes();
      append(job.results[i].block.data(), from, bytes);
      from += bytes;
    }
  }
  job.inputs.clear();
}

void TransferThread::all_to_all(Job& job) {
  const Transport::Counts one(size_t(size_), 1);
  job.rows_from.resize(size_t(size_));
  transport_->start_exchange(job.sizes.data(), one, job.rows_from.data(), one, sizeof(int64_t));
  finish_exchange();
  const size_t unit = item_size(job.dtype) * size_t(job.row);
  const int64_t rows = sum_of(job.rows_from);
  job.results.push_back({Block(size_t(rows) * unit), rows});
  if (unit == 0) return;
  transport_->start_exchange(job.in, job.sizes, job.results[0].block.data(), job.rows_from, unit);
  finish_exchange();
}

}  // namespace lunagrad::dist
