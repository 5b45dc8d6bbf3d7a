// `lunagrad bench --ops` with tiny operands: tests its table and output, not the times.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/program.h"

using namespace lunagrad::test;

TEST_CASE("bench --ops measures each op relative to memcpy") {
  const Finished ran =
      Program({kProgram, "bench", "--ops", "--size", "1024", "--threads", "1", "--json"}).finish();
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  std::set<std::string> measured;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    measured.insert(row["op"].get<std::string>());
    CHECK((row.contains("gb_per_s") ? row["gb_per_s"] : row["gflop_per_s"]).get<double>() > 0);
  }
  CHECK(measured.count("memcpy"));
  const Finished table = Program({kProgram, "bench", "--ops", "--size", "1024"}).finish();
  CHECK(table.code == 0);
  CHECK(table.out.find("\nNot measured:") != std::string::npos);  // ctc_loss, at least
  for (const char* op : {"tanh", "matmul", "sort", "_cast", "_adam_step"}) CHECK(measured.count(op));
}

TEST_CASE("bench --ops takes names and types, and refuses unknown ones") {
  const Finished two = Program({kProgram, "bench", "--ops", "--size", "1024", "--dtype", "i64", "--threads",
                                "1,2", "add", "sum"})
                           .finish();
  CHECK(two.code == 0);
  CHECK(two.out.find("\nadd ") != std::string::npos);
  CHECK(two.out.find("\nsum dim 2") != std::string::npos);
  CHECK(two.out.find("\nmul ") == std::string::npos);
  CHECK(Program({kProgram, "bench", "--ops", "nonsense"}).finish().code == 2);
  CHECK(Program({kProgram, "bench", "--ops", "--dtype", "f8"}).finish().code == 2);
  CHECK(Program({kProgram, "bench", "--size", "1024"}).finish().code == 2);
}

TEST_CASE("bench --tune saves the plans of products and says where") {
  const std::string devices = Program({kProgram, "devices"}).finish().out;
  const Folder folder;
  const std::vector<std::string> tune{kProgram, "bench", "--tune"},
      env{"XDG_CACHE_HOME=" + folder.path() + "/cache"};
  if (devices.find("vulkan") == devices.npos) CHECK(Program(tune).finish().code == 5);
  if (devices.find("llvmpipe") != devices.npos) {  // a GPU's list takes a minute
    const Finished ran = Program(tune, "", env).finish();
    CHECK(ran.code == 0);
    CHECK(ran.err == "");
    CHECK(ran.out.find("\n64 x 64 x 64 NT f32 ") != std::string::npos);
    const size_t place = ran.out.find(folder.path() + "/cache" + "/lunagrad/products-");
    REQUIRE(place != std::string::npos);
    CHECK(read_file(ran.out.substr(place, ran.out.find('\n', place) - place)).find("shaders ") !=
          std::string::npos);
    CHECK(Program(tune, "", {"XDG_CACHE_HOME=/dev/null"}).finish().code == 6);
  }
  CHECK(Program({kProgram, "bench", "--tune", "--device", "cpu"}).finish().code == 2);
  CHECK(Program({kProgram, "bench", "--tune", "--device", "abacus"}).finish().code == 5);
  CHECK(Program({kProgram, "bench", "--tune", "--ops"}).finish().code == 2);
  CHECK(Program({kProgram, "bench", "--tune", "matmul"}).finish().code == 2);
}
