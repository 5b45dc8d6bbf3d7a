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
  const std::string shown = fitting("Sequential.12", "Sequen.12");
  CHECK(shown.ends_with(".12"));
  CHECK(shown.starts_with("Se"));
  CHECK(shown.find("…") != shown.npos);
  CHECK(label.width(shown) <= label.width("Sequen.12"));
  CHECK(fitting("models.encoder.blocks.12", "…encoder.blocks.12") == "…encoder.blocks.12");
  CHECK(fitting("models.encoder.blocks.12", "…blocks.12") == "…blocks.12");
  CHECK(fitting("models.encoder.blocks.12", "mode.12").ends_with(".12"));
  CHECK(fitting("models.encoder.blocks.12", "mode.12").starts_with("m"));
  CHECK(fitting("label_smoothing", "label_smoo").ends_with("ng"));
  CHECK(fitting("größere Länge", "größere L").find("…") != std::string::npos);
  CHECK(fitting("anything", "") == "");
}
