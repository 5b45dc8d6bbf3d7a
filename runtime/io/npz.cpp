#include "runtime/io/npz.h"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>

#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/io/npy.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr uint64_t kLargestRatio = 1032;        // of deflate: 258 bytes from two bits
constexpr uint64_t kPiece = uint64_t(8) << 20;  // bytes between two checks for a request to stop
constexpr uint16_t kFirstDay = 1 << 5 | 1;      // 1 January 1980: equal arrays give equal files

// An archive that is being read: first all checks of its directory (libzip has rejected duplicate names),
// then the entries one by one.
class Archive {
 public:
  explicit Archive(const std::string& path) : path_(path), size_(InputFile(path).size()) {
    int code = 0;
    zip_.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
    if (!zip_) {
      zip_error_t error;
      zip_error_init_with_code(&error, code);
      const std::string why = zip_error_strerror(&error);
      zip_error_fini(&error);
      complain("not a .npz file: ", why);
    }
    read_directory();
  }

  template <class F>
  void each(F&& visit) const {
    for (const Entry& entry : entries_) {
      const std::string where = path_ + ": array '" + entry.name + "'";
      const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
          zip_fopen_index(zip_.get(), entry.index, 0), zip_fclose);
      if (!file) complain("array '", entry.name, "': ", zip_strerror(zip_.get()));
      const auto read = [&](void* to, uint64_t count) {
        read_all(file.get(), entry, static_cast<char*>(to), count);
      };
      visit(entry.name, NpyStream{where, entry.size, read}, file.get());
    }
  }

  // Checks that no bytes follow; reading to the end makes libzip check the CRC.
  void check_end(const std::string& name, zip_file_t* file) const {
    char more;
    const zip_int64_t got = zip_fread(file, &more, 1);
    if (got < 0) complain("array '", name, "': ", zip_file_strerror(file));
    if (got > 0) complain("array '", name, "' unpacks to more than it declares");
  }

 private:
  struct Entry {
    std::string name;
    zip_uint64_t index;
    uint64_t size;
  };

  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  void read_directory() {
    const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
    uint64_t packed = 0;
    for (zip_uint64_t i = 0; i < zip_uint64_t(count); ++i) {
      zip_stat_t stat;
      constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                       ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
      if (zip_stat_index(zip_.get(), i, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
        complain("entry ", i + 1, " of the archive is damaged");
      const std::string name = stat.name;
      if (!name.ends_with(kSuffix) || name.size() == kSuffix.size())
        complain("entry '", name, "' is no array: its name does not end in .npy");
      if (stat.encryption_method != ZIP_EM_NONE) complain("entry '", name, "' is encrypted");
      if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
        complain("entry '", name, "' is packed by method ", stat.comp_method,
                 "; stored (0) and deflated (8) are read");
      const bool stored = stat.comp_method == ZIP_CM_STORE;
      if (stored ? stat.size != stat.comp_size : stat.size / kLargestRatio > stat.comp_size)
        complain("entry '", name, "' declares ", stat.size, " bytes, which its ", stat.comp_size,
                 " packed bytes cannot hold");
      if (__builtin_add_overflow(packed, stat.comp_size, &packed) || packed > size_)
        complain("its entries declare more packed bytes than the ", size_, " of the file");
      entries_.push_back({name.substr(0, name.size() - kSuffix.size()), i, stat.size});
    }
  }

  void read_all(zip_file_t* file, const Entry& entry, char* to, uint64_t count) const {
    while (count > 0) {
      context().check_stop();
      const zip_int64_t got = zip_fread(file, to, std::min(count, kPiece));
      if (got < 0) complain("array '", entry.name, "': ", zip_file_strerror(file));
      if (got == 0) complain("array '", entry.name, "' ends early");
      to += got;
      count -= uint64_t(got);
    }
  }

  const std::string& path_;
  uint64_t size_;
  std::unique_ptr<zip_t, void (*)(zip_t*)> zip_{nullptr, zip_discard};
  std::vector<Entry> entries_;
};

// An array as a source of libzip: the bytes of its .npy file in order.
struct ArraySource {
  std::string preamble;
  Tensor host;
  uint64_t at = 0;

  uint64_t size() const { return preamble.size() + host.nbytes(); }

  zip_int64_t read(char* to, uint64_t count) {
    const bool in_preamble = at < preamble.size();
    const char* const from =
        in_preamble ? preamble.data() + at : static_cast<const char*>(host.raw()) + (at - preamble.size());
    count = std::min(count, (in_preamble ? preamble.size() : size()) - at);
    if (count > 0) std::memcpy(to, from, count);
    at += count;
    return zip_int64_t(count);
  }
};

zip_int64_t serve(void* source, void* data, zip_uint64_t count, zip_source_cmd_t command) {
  ArraySource& array = *static_cast<ArraySource*>(source);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      array.at = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return array.read(static_cast<char*>(data), count);
    case ZIP_SOURCE_STAT: {
      zip_stat_t* const stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->size = array.size();
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

// An archive that is being written to the temporary file of an AtomicFile.
class Writer {
 public:
  Writer(const std::string& path, const std::string& temporary) : path_(path) {
    int code = 0;
    zip_.reset(zip_open(temporary.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
    if (!zip_) fail_as(ErrorKind::file, path_, ": cannot write: libzip gives error ", code);
    zip_register_cancel_callback_with_state(
        zip_.get(), [](zip_t*, void*) { return int(context().stop_requested.load()); }, nullptr, nullptr);
  }

  void add(const std::string& name, ArraySource& array, bool compress) {
    zip_source_t* const source = zip_source_function(zip_.get(), serve, &array);
    if (!source) complain();
    const zip_int64_t index =
        zip_file_add(zip_.get(), (name + std::string(kSuffix)).c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      complain();
    }
    if (zip_set_file_compression(zip_.get(), zip_uint64_t(index), compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                                 0) != 0 ||
        zip_file_set_dostime(zip_.get(), zip_uint64_t(index), 0, kFirstDay, 0) != 0)
      complain();
  }

  void close() {
    if (zip_close(zip_.get()) != 0) {
      context().check_stop();
      complain();
    }
    (void)zip_.release();
  }

 private:
  [[noreturn]] void complain() const {
    fail_as(ErrorKind::file, path_, ": cannot write: ", zip_strerror(zip_.get()));
  }
  const std::string& path_;
  std::unique_ptr<zip_t, void (*)(zip_t*)> zip_{nullptr, zip_discard};
};

}  // namespace

NamedTensors load_npz(const std::string& path) {
  const Archive archive(path);
  NamedTensors out;
  archive.each([&](const std::string& name, const NpyStream& stream, zip_file_t* file) {
    Tensor x = read_npy(stream);
    archive.check_end(name, file);
    out.emplace_back(name, std::move(x));
  });
  return out;
}

FileInfo describe_npz(const std::string& path) {
  const Archive archive(path);
  FileInfo out{.format = "npz"};
  archive.each([&](const std::string& name, const NpyStream& stream, zip_file_t*) {
    out.arrays.push_back(describe_npy(stream));
    out.arrays.back().name = name;
  });
  return out;
}

void save_npz(const std::string& path, const NamedTensors& tensors, bool compress) {
  const NoGrad off;
  std::vector<std::unique_ptr<ArraySource>> arrays;
  std::unordered_set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (name.empty() || name.find('\0') != std::string::npos)
      fail("npz: an array needs a name without zero bytes");
    if (!names.insert(name).second) fail("npz: two tensors are called '", name, "'");
    arrays.push_back(std::make_unique<ArraySource>());
    arrays.back()->preamble = npy_preamble(tensor);
    arrays.back()->host = contiguous(to(tensor.detach(), cpu_device()));
  }
  AtomicFile file(path);
  if (tensors.empty()) {
    // libzip removes archives without entries; this is the end record of an empty archive.
    file.write(std::string("PK\5\6") + std::string(18, '\0'));
    return file.commit();
  }
  Writer writer(path, file.temporary_name());
  for (size_t i = 0; i < tensors.size(); ++i) writer.add(tensors[i].first, *arrays[i], compress);
  writer.close();
  file.take_up();
  file.commit();
}

FileFormat npz_format() {
  return {
      .name = "npz",
      .about = "NumPy's arrays by name.",
      .endings = {".npz"},
      .begins =
          [](std::string_view start) { return start.starts_with("PK\3\4") || start.starts_with("PK\5\6"); },
      .describe = describe_npz,
      .load_all =
          [](const std::string& path) {
            return Safetensors{load_npz(path), {}};
          },
      .save_all = [](const std::string& path,
                     const Safetensors& content) { save_npz(path, content.tensors); },
      .takes_options = true};
}

}  // namespace lunagrad
