#include <doctest/doctest.h>

#include "tests/ui/null_host.h"
#include "ui/window/theme.h"

using namespace lunagrad;

TEST_CASE("a name that does not fit keeps its beginning and the end that distinguishes it") {
  const tests::NullHost host;
  const Fonts::Label label{host.font(), host.font()->FontSize};
  const auto fitting = [&](const std::string& name, const std::string& as_wide_as) {
    return fitting_name(name, label, label.width(as_wide_as));
  };
  CHECK(fitting("Sequential.12", "Sequential.12") == "Sequential.12");
  for (const std::string name : {"Sequential.12", "models.encoder.blocks.12"}) {
    const std::string shown = fitting(name, "Sequen.12");
    CHECK(shown.ends_with(".12"));
    CHECK(shown.starts_with(name.substr(0, 2)));
    CHECK(shown.find("…") != shown.npos);
    CHECK(label.width(shown) <= label.width("Sequen.12"));
  }
  CHECK(fitting("label_smoothing", "label_smoo").ends_with("ng"));
  CHECK(fitting("größere Länge", "größere L").find("…") != std::string::npos);
  CHECK(fitting("anything", "") == "");
}
