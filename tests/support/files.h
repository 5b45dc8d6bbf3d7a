#pragma once
// Helpers for tests of files: a temporary folder, and the error text of a rejected file.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace lunagrad::tests {

// A temporary folder; the destructor removes it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "lunagrad-io-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string with(const std::string& name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;  // without the sync of write_file
    return file(name);
  }
  size_t count() const {
    return size_t(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

// The text of the Error of kind file that f throws, without the path of the folder; "" if f does not throw.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::file);
    const std::string text = error.what();
    const size_t name = text.find("lunagrad-io-");
    return name == std::string::npos ? text : text.substr(text.find('/', name) + 1);
  }
  return "";
}

// The bytes of a number in memory order, and in reverse order.
template <class T>
std::string little_endian(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T>
std::string big_endian(T value) {
  const std::string bytes = little_endian(value);
  return {bytes.rbegin(), bytes.rend()};
}

inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return little_endian(uint64_t(header.size())).append(header).append(data);
}

inline std::string idx_header(uint8_t type, std::initializer_list<uint32_t> sizes) {
  std::string out{'\0', '\0', char(type), char(sizes.size())};
  for (const uint32_t size : sizes) out += big_endian(size);
  return out;
}

// A .npy file of version 1 with the given dict and elements.
inline std::string npy_bytes(const std::string& dict, std::string_view data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(uint16_t(dict.size())) + dict +
         std::string(data);
}

}  // namespace lunagrad::tests
