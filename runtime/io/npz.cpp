#include "runtime/io/npz.h"

#include <memory>
#include <unordered_set>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/npy.h"
#include "runtime/io/zip_archive.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr std::string_view kSuffix = ".npy";

// Calls visit(name, stream of the array, stream of the entry) for each array.
template <class F>
void each_array(const std::string& path, F&& visit) {
  const ZipArchive archive(path, ".npz file");
  for (const ZipEntry& entry : archive.entries())
    if (!entry.name.ends_with(kSuffix) || entry.name.size() == kSuffix.size())
      fail_as(ErrorKind::file, path, ": entry '", entry.name, "' is no array: its name does not end in .npy");
  for (const ZipEntry& entry : archive.entries()) {
    const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    const std::string what = "array '" + name + "'";
    const ZipStream stream = archive.open(entry, what);
    const auto read = [&](void* to, uint64_t count) { stream.read(to, count); };
    visit(name, NpyStream{path + ": " + what, entry.size, read}, stream);
  }
}

}  // namespace

NamedTensors load_npz(const std::string& path) {
  NamedTensors out;
  each_array(path, [&](const std::string& name, const NpyStream& array, const ZipStream& entry) {
    Tensor x = read_npy(array);
    entry.check_end();
    out.emplace_back(name, std::move(x));
  });
  return out;
}

FileInfo describe_npz(const std::string& path) {
  FileInfo out{.format = "npz"};
  each_array(path, [&](const std::string& name, const NpyStream& array, const ZipStream&) {
    out.arrays.push_back(describe_npy(array));
    out.arrays.back().name = name;
  });
  return out;
}

void save_npz(const std::string& path, const NamedTensors& tensors, bool compress) {
  const NoGrad off;
  std::vector<std::unique_ptr<ZipContent>> arrays;
  std::unordered_set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (name.empty() || name.find('\0') != std::string::npos)
      fail("npz: an array needs a name without zero bytes");
    if (!names.insert(name).second) fail("npz: two tensors are called '", name, "'");
    arrays.push_back(std::make_unique<ZipContent>());
    arrays.back()->preamble = npy_preamble(tensor);
    arrays.back()->host = contiguous(to(tensor.detach(), cpu_device()));
  }
  AtomicFile file(path);
  if (tensors.empty()) {
    // libzip removes archives without entries; this is the end record of an empty archive.
    file.write(std::string("PK\5\6") + std::string(18, '\0'));
    return file.commit();
  }
  ZipWriter writer(path, file.temporary_name());
  for (size_t i = 0; i < tensors.size(); ++i)
    writer.add(tensors[i].first + std::string(kSuffix), *arrays[i], compress);
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
