#pragma once
// The legend of a chart: the stroke, name and value of each line in a given number of rows, and a popup list
// of all lines if these do not suffice. A click hides or shows a line. Private to the plot.
#include <optional>
#include <string>
#include <vector>

#include "ui/curves/plot_data.h"

namespace lunagrad {

class PlotLegend {
 public:
  struct At {
    double x;
    bool exact;  // with all digits
  };
  // Lays the entries out from `left` to `right`, `indent` to the right in the first row. With the values
  // nearest to `at` instead of the last ones.
  PlotLegend(const std::vector<PlotLine>&, const PlotState&, float left, float right, float indent,
             int most_rows, const std::optional<At>& at);
  int rows() const { return rows_; }
  // Draws them with their upper edge at y. The caller has reserved the space.
  void draw(float y, PlotState&, const PlotColors&, PlotShown&) const;

 private:
  struct Entry {
    const PlotLine* line;
    std::string value, alarm;
    float x = 0, width = 0, name_width = 0, value_width = 0;
    int row = 0;
  };
  void draw_list(PlotState&, const PlotColors&) const;
  const std::vector<PlotLine>& lines_;
  std::vector<Entry> entries_;
  size_t left_out_ = 0;  // entries that only the popup list shows
  float more_x_ = 0;
  int rows_ = 1;
};

}  // namespace lunagrad
