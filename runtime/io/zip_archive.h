#pragma once
// ZIP archives, read and written through libzip: .npz and .pt files. Before any entry is opened, the reader
// checks the whole directory: methods, encryption, and that the sizes fit into the file. Owns the open
// archive. One thread at a time. Errors have kind file and name the file. A stop cancels reading and writing.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/tensor.h"
#include "runtime/io/read_budget.h"

struct zip;
struct zip_file;

namespace lunagrad {

struct ZipEntry {
  std::string name;
  uint64_t index = 0;
  uint64_t size = 0;    // bytes, unpacked
  uint64_t packed = 0;  // bytes in the file
};

// An entry that is being read.
class ZipStream {
 public:
  ZipStream(std::string where, zip_file* file) : where_(std::move(where)), file_(file) {}
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;

  void read(void* to, uint64_t count) const;  // Error if the entry is shorter
  void check_end() const;                     // Error if bytes follow, or if the checksum is wrong

 private:
  std::string where_;  // for errors: "x.npz: array 'a'"
  zip_file* file_;
};

class ZipArchive {
 public:
  // `kind` is for the error when the file is not an archive: ".npz file".
  ZipArchive(std::string path, const char* kind);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }  // in the order of the directory
  // `what` names the entry in errors: "array 'a'".
  ZipStream open(const ZipEntry&, const std::string& what) const;
  std::string content(const ZipEntry&, const std::string& what, ReadBudget&) const;

 private:
  void read_directory();
  std::string path_;
  uint64_t size_ = 0;  // bytes of the file
  ReadBudget budget_;  // for the list of entries
  zip* zip_ = nullptr;
  std::vector<ZipEntry> entries_;
};

// The content of an entry to write: bytes, then the elements of a contiguous CPU tensor (may be undefined).
struct ZipContent {
  std::string preamble;
  Tensor host;
  uint64_t at = 0;  // bytes that the writer has taken

  uint64_t size() const { return preamble.size() + (host.defined() ? host.nbytes() : 0); }
};

// Writes to the temporary file of an AtomicFile. Equal contents give equal files.
class ZipWriter {
 public:
  ZipWriter(std::string path, const std::string& temporary);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;

  void add(const std::string& name, ZipContent& content, bool compress);  // `content` must live until close()
  void close();

 private:
  [[noreturn]] void complain() const;
  std::string path_;
  zip* zip_ = nullptr;
};

}  // namespace lunagrad
