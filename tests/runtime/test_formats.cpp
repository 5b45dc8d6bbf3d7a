// Every file format in the list: saves and loads an array, its file is recognised, and truncated files are
// refused.
#include <doctest/doctest.h>

#include <set>

#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/ops.h"
#include "tests/support/files.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("each file format has a name, endings of its own and a sentence for help") {
  std::set<std::string_view> names, endings;
  for (const FileFormat* format : file_formats()) {
    INFO(format->name);
    CHECK(names.insert(format->name).second);
    CHECK(std::string_view(format->about).ends_with("."));
    CHECK(!format->endings.empty());
    for (const std::string_view ending : format->endings) {
      CHECK(endings.insert(ending).second);
      CHECK(format_of_name("x" + std::string(ending)) == format);
    }
    CHECK(bool(format->describe));
    CHECK((format->load && format->save) != (format->load_all && format->save_all));
  }
}

TEST_CASE("an array goes through each file format; a file cut short is never read as another array") {
  const Folder folder;
  // [1, 3, 4]: a grey picture, a row of a table, and an array of any rank.
  const Tensor picture = reshape(arange(0, 12, 1, DType::u8, cpu_device()), {1, 3, 4});
  for (const FileFormat* format : file_formats()) {
    INFO(format->name);
    const bool table = std::string_view(format->name) == "csv";
    const Tensor x = table ? reshape(picture, {3, 4}) : picture;
    const std::string path = folder.file("x" + std::string(format->endings[0]));
    const auto load = [&](const std::string& from) {
      return format->load ? format->load(from, {.header = false, .dtype = DType::u8})
                          : format->load_all(from).tensors.at(0).second;
    };
    if (format->save) {
      format->save(path, x);
    } else {
      format->save_all(path, {{{"x", x}}, {}});
    }
    CHECK(format_of_file(path) == format);
    CHECK(describe_file(path).format == format->name);
    CHECK(describe_file(path).arrays.size() == 1);
    CHECK(load(path).shape() == x.shape());
    CHECK(load(path).to_vector<double>() == x.to_vector<double>());
    if (table) continue;  // the beginning of a text is a text
    const std::string content = read_file(path);
    for (size_t length = 0; length < content.size(); ++length)
      CHECK_THROWS_AS(load(folder.with("cut" + std::string(format->endings[0]), content.substr(0, length))),
                      Error);
  }
}
