// A page for a browser begins with the settings of the window.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "folders.h"
#include "script/report/curve_buckets.h"
#include "ui/runs/curves.h"

using namespace lunagrad;

TEST_CASE("a page smooths curves as strongly as the window, and takes the same names for losses") {
  std::ostringstream read;
  read << std::ifstream(LUNAGRAD_SOURCE_DIR "/script/report/web/20_model.js").rdbuf();
  const std::string model = read.str();
  std::smatch list, usual, losses;
  REQUIRE(std::regex_search(model, list, std::regex(R"(SMOOTHINGS = \[([^\]]+)\])")));
  REQUIRE(std::regex_search(model, usual, std::regex(R"(USUAL_SMOOTHING = (\d+);)")));
  std::vector<double> smoothings;
  std::istringstream numbers(list[1]);
  for (std::string number; std::getline(numbers, number, ',');) smoothings.push_back(std::stod(number));
  REQUIRE(smoothings.size() == kSmoothings.size() + 1);
  CHECK(smoothings[0] == 0);
  CHECK(std::equal(kSmoothings.begin(), kSmoothings.end(), smoothings.begin() + 1));
  CHECK(smoothings.at(std::stoul(usual[1])) == kDefaultSmoothing);
  REQUIRE(std::regex_search(model, losses, std::regex(R"(function isLoss\(name\) \{ return /([a-z|]+)/i)")));
  const std::regex is_loss_there(losses[1].str(), std::regex::icase);
  for (const char* name : {"loss", "val_Loss", "nll", "perplexity", "mse", "error", "residual", "accuracy",
                           "grad/fc1", "lr", "terror", "norm"})
    CHECK(std::regex_search(name, is_loss_there) == is_loss(name));
}
