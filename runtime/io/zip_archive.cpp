#include "runtime/io/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/io/disk_limit.h"
#include "runtime/io/input_file.h"

namespace lunagrad {
namespace {

constexpr uint64_t kZipPiece = uint64_t(8) << 20;  // bytes between two checks for a request to stop
constexpr uint16_t kFirstDay = 1 << 5 | 1;         // 1 January 1980: equal arrays give equal files

zip_int64_t take(ZipContent& content, char* to, uint64_t count) {
  const bool in_preamble = content.at < content.preamble.size();
  const char* const from =
      in_preamble ? content.preamble.data() + content.at
                  : static_cast<const char*>(content.host.raw()) + (content.at - content.preamble.size());
  count = std::min(count, (in_preamble ? content.preamble.size() : content.size()) - content.at);
  if (count > 0) std::memcpy(to, from, count);
  content.at += count;
  return zip_int64_t(count);
}

// The callback of libzip that reads the content of an entry to write.
zip_int64_t serve(void* source, void* data, zip_uint64_t count, zip_source_cmd_t command) {
  ZipContent& content = *static_cast<ZipContent*>(source);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      content.at = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return content.at == content.size() ? 0 : take(content, static_cast<char*>(data), count);
    case ZIP_SOURCE_STAT: {
      zip_stat_t* const stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->size = content.size();
      stat->valid = ZIP_STAT_SIZE;
      return sizeof *stat;
    }
    case ZIP_SOURCE_ERROR:
      std::memset(data, 0, 2 * sizeof(int));
      return 2 * sizeof(int);
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
      return 0;
    default:
      return -1;
  }
}

}  // namespace

// --- which entry is damaged ---

namespace {

// The header before the data of an entry.
struct LocalHeader {
  std::string name;
  uint32_t crc = 0, packed = 0;
  bool whole = false;  // the file has all the data of the entry
};

// The local headers from the beginning of an archive, up to the first that is missing or incomplete.
std::vector<LocalHeader> local_headers(const std::string& path) {
  constexpr size_t kFixed = 30;
  constexpr uint16_t kSizesFollow = 8;
  std::vector<LocalHeader> found;
  const InputFile file(path);
  for (uint64_t at = 0; at + kFixed <= file.size();) {
    char fixed[kFixed];
    file.read(fixed, at, kFixed);
    const auto number = [&]<class T>(size_t place, T value) {
      std::memcpy(&value, fixed + place, sizeof value);
      return value;
    };
    if (std::memcmp(fixed, "PK\3\4", 4) != 0 || (number(6, uint16_t()) & kSizesFollow)) break;
    LocalHeader header{"", number(14, uint32_t()), number(18, uint32_t())};
    const uint64_t length = number(26, uint16_t()), data = at + kFixed + length + number(28, uint16_t());
    if (at + kFixed + length > file.size()) break;
    header.name.resize(size_t(length));
    file.read(header.name.data(), at + kFixed, length);
    at = data + header.packed;
    header.whole = at <= file.size();
    found.push_back(std::move(header));
  }
  return found;
}

// Describes the damage in an archive that libzip refuses.
std::string damage_of(const std::string& path) {
  const std::vector<LocalHeader> headers = local_headers(path);
  int code = 0;
  zip_t* const zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (!zip && headers.empty()) return {};
  std::string damage = "; its list of entries is damaged or cut off";
  const auto quoted = [](const std::string& name) { return "'" + name.substr(0, 100) + "'"; };
  if (!headers.empty() && !headers.back().whole) damage = "; it is cut within " + quoted(headers.back().name);
  if (!zip) return damage;
  const zip_int64_t count = zip_get_num_entries(zip, 0);
  for (zip_uint64_t i = 0; i < zip_uint64_t(count); ++i) {
    zip_stat_t listed;
    if (zip_stat_index(zip, i, 0, &listed) != 0) break;
    const bool same = i < headers.size() && headers[i].name == listed.name && headers[i].crc == listed.crc &&
                      headers[i].packed == listed.comp_size;
    if (same) continue;
    damage = "; " + quoted(listed.name) + " is damaged: its header is not as the list of entries says";
    break;
  }
  zip_discard(zip);
  return damage;
}

}  // namespace

// --- reading ---

namespace {

// The size in bytes of the list of entries, as the end of the archive declares it. libzip reads the whole
// list into memory when it opens an archive. When several places look like the end, the largest list counts.
uint64_t directory_bytes(const InputFile& file) {
  constexpr size_t kEnd = 22, kLocator = 20, kLongestComment = 65535;
  std::string tail(size_t(std::min<uint64_t>(file.size(), kEnd + kLongestComment + kLocator)), '\0');
  file.read(tail.data(), file.size() - tail.size(), tail.size());
  const auto number = [](const std::string& bytes, size_t place, auto value) {
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return uint64_t(value);
  };
  uint64_t most = 0;
  for (size_t at = tail.rfind("PK\5\6"); at != tail.npos;
       at = at ? tail.rfind("PK\5\6", at - 1) : tail.npos) {
    if (tail.size() - at < kEnd) continue;
    most = std::max(most, number(tail, at + 12, uint32_t()));
    if (at < kLocator || tail.compare(at - kLocator, 4, "PK\6\7") != 0) continue;
    std::string zip64(48, '\0');
    const uint64_t place = number(tail, at - kLocator + 8, uint64_t());
    if (file.size() < zip64.size() || place > file.size() - zip64.size()) continue;
    file.read(zip64.data(), place, zip64.size());
    most = std::max(most, number(zip64, 40, uint64_t()));
  }
  return std::min(most, file.size());
}

}  // namespace

ZipStream::~ZipStream() { zip_fclose(file_); }

void ZipStream::read(void* to, uint64_t count) const {
  for (char* at = static_cast<char*>(to); count > 0;) {
    context().check_stop();
    const zip_int64_t got = zip_fread(file_, at, std::min(count, kZipPiece));
    if (got < 0) fail_as(ErrorKind::file, where_, ": ", zip_file_strerror(file_));
    if (got == 0) fail_as(ErrorKind::file, where_, " ends early");
    at += got;
    count -= uint64_t(got);
  }
}

void ZipStream::check_end() const {
  char more;  // reading to the end makes libzip check the CRC
  const zip_int64_t got = zip_fread(file_, &more, 1);
  if (got < 0) fail_as(ErrorKind::file, where_, ": ", zip_file_strerror(file_));
  if (got > 0) fail_as(ErrorKind::file, where_, " unpacks to more than it declares");
}

ZipArchive::ZipArchive(std::string path, const char* kind) : path_(std::move(path)), budget_(path_) {
  constexpr uint64_t kListed = 10;  // bytes in memory per byte of the list, where an entry has at least 46
  {
    const InputFile file(path_);
    size_ = file.size();
    budget_.take(kListed * directory_bytes(file));
  }
  int code = 0;
  zip_ = zip_open(path_.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (!zip_) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    fail_as(ErrorKind::file, path_, ": not a ", kind, ": ", why, damage_of(path_));
  }
  try {
    read_directory();
  } catch (...) {
    zip_discard(zip_);
    throw;
  }
}

ZipArchive::~ZipArchive() { zip_discard(zip_); }

void ZipArchive::read_directory() {
  const auto complain = [&](const auto&... parts) { fail_as(ErrorKind::file, path_, ": ", parts...); };
  const zip_int64_t count = zip_get_num_entries(zip_, 0);
  uint64_t packed = 0;
  for (zip_uint64_t i = 0; i < zip_uint64_t(count); ++i) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                     ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(zip_, i, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
      complain("entry ", i + 1, " of the archive is damaged");
    const std::string name = stat.name;
    if (stat.encryption_method != ZIP_EM_NONE) complain("entry '", name, "' is encrypted");
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
      complain("entry '", name, "' is packed by method ", stat.comp_method,
               "; stored (0) and deflated (8) are read");
    const bool stored = stat.comp_method == ZIP_CM_STORE;
    if (stored ? stat.size != stat.comp_size : stat.size / kLargestDeflateRatio > stat.comp_size)
      complain("entry '", name, "' declares ", stat.size, " bytes, which its ", stat.comp_size,
               " packed bytes cannot hold");
    if (__builtin_add_overflow(packed, stat.comp_size, &packed) || packed > size_)
      complain("its entries declare more packed bytes than the ", size_, " of the file");
    entries_.push_back({name, i, stat.size, stat.comp_size});
  }
}

ZipStream ZipArchive::open(const ZipEntry& entry, const std::string& what) const {
  zip_file_t* const file = zip_fopen_index(zip_, entry.index, 0);
  if (!file) fail_as(ErrorKind::file, path_, ": ", what, ": ", zip_strerror(zip_));
  return ZipStream(path_ + ": " + what, file);
}

std::string ZipArchive::content(const ZipEntry& entry, const std::string& what, ReadBudget& budget) const {
  const ZipStream stream = open(entry, what);
  budget.take(entry.size);
  std::string bytes(size_t(entry.size), '\0');
  stream.read(bytes.data(), bytes.size());
  stream.check_end();
  return bytes;
}

// --- writing ---

ZipWriter::ZipWriter(std::string path, const std::string& temporary) : path_(std::move(path)) {
  int code = 0;
  zip_ = zip_open(temporary.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!zip_) fail_as(ErrorKind::file, path_, ": cannot write: libzip gives error ", code);
  zip_register_cancel_callback_with_state(
      zip_, [](zip_t*, void*) { return int(context().stop_requested.load()); }, nullptr, nullptr);
}

ZipWriter::~ZipWriter() {
  if (zip_) zip_discard(zip_);
}

void ZipWriter::add(const std::string& name, ZipContent& content, bool compress) {
  zip_source_t* const source = zip_source_function(zip_, serve, &content);
  if (!source) complain();
  const zip_int64_t index = zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    complain();
  }
  if (zip_set_file_compression(zip_, zip_uint64_t(index), compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(zip_, zip_uint64_t(index), 0, kFirstDay, 0) != 0)
    complain();
}

void ZipWriter::close() {
  if (zip_close(zip_) != 0) {
    context().check_stop();
    complain();
  }
  zip_ = nullptr;
}

void ZipWriter::complain() const {
  const bool too_long = zip_error_code_system(zip_get_error(zip_)) == EFBIG;
  fail_as(ErrorKind::file, path_, ": cannot write: ", too_long ? why_not_written(EFBIG) : zip_strerror(zip_));
}

}  // namespace lunagrad
