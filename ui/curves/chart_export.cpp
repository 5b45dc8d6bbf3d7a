#include "ui/curves/chart_export.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/core/figures.h"
#include "runtime/io/quoting.h"
#include "ui/curves/dashes.h"
#include "ui/curves/plot_frame.h"
#include "ui/runs/journal.h"
#include "ui/runs/recorded.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

class Svg {
 public:
  Svg(int width, int height, bool dark)
      : text_(dark ? "#e4e7ec" : "#1c2128"), grid_(dark ? "#2e343f" : "#d0d6de") {
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(height) +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"" +
           (dark ? "#171a20" : "#ffffff") + "\"/>\n";
  }
  void line(float x0, float y0, float x1, float y1, const std::string& color, const char* more = "") {
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"",
                  double(x0), double(y0), double(x1), double(y1));
    out_ += numbers + color + "\" " + more + "/>\n";
  }
  void write(float x, float y, const char* anchor, const std::string& text, const std::string& color,
             const char* more = "") {
    char place[96];
    std::snprintf(place, sizeof place, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" ", double(x),
                  double(y), anchor);
    out_ +=
        place + std::string("fill=\"") + color + "\" " + more + ">" + xml_text(printable(text)) + "</text>\n";
  }
  void path(const std::vector<ImVec2>& points, const std::string& color, float width, float opacity,
            int dash) {
    if (points.size() == 1) {
      char circle[128];
      std::snprintf(circle, sizeof circle, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2\" fill=\"",
                    double(points[0].x), double(points[0].y));
      out_ += circle + color + "\"/>\n";
      return;
    }
    out_ += "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + color + "\" points=\"";
    add_points(points);
    char style[160];
    std::snprintf(style, sizeof style, "\" stroke-width=\"%.2f\" stroke-opacity=\"%.2f\"", double(width),
                  double(opacity));
    out_ += style;
    if (const float* p = dash_pattern(dash)) {
      std::snprintf(style, sizeof style, " stroke-dasharray=\"%g %g %g %g\"", double(p[0]), double(p[1]),
                    double(p[2]), double(p[3]));
      out_ += style;
    }
    out_ += "/>\n";
  }
  void area(const std::vector<BandColumn>& columns, const std::string& color) {
    std::vector<ImVec2> around;
    for (const BandColumn& column : columns) around.push_back({column.x, column.top});
    for (auto column = columns.rbegin(); column != columns.rend(); ++column)
      around.push_back({column->x, column->bottom});
    if (around.size() < 4) return;
    out_ += "<polygon fill=\"" + color + "\" fill-opacity=\"0.2\" points=\"";
    add_points(around);
    out_ += "\"/>\n";
  }
  void begin_clip(int id, const PlotFrame& frame) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "<clipPath id=\"c%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\"/></clipPath>\n<g clip-path=\"url(#c%d)\">\n",
                  id, double(frame.min.x), double(frame.min.y), double(frame.width()), double(frame.height()),
                  id);
    out_ += text;
  }
  void end_clip() { out_ += "</g>\n"; }
  std::string finish() { return std::move(out_) + "</svg>\n"; }
  const std::string text_, grid_;

 private:
  void add_points(const std::vector<ImVec2>& points) {
    char pair[48];
    for (const ImVec2& point : points) {
      std::snprintf(pair, sizeof pair, "%.2f,%.2f ", double(point.x), double(point.y));
      out_ += pair;
    }
  }
  std::string out_;
};

void write_not_finite(Svg& svg, const PlotLine& line, const PlotFrame& frame) {
  float last = -INFINITY;
  for (const size_t i : line.raw->not_finite()) {
    const double x = line.raw->x(i), y = line.raw->odd(i);
    if (x < frame.x0 || x > frame.x1 || !frame.x.shows(x)) continue;
    const float at = frame.px(x);
    if (at - last < 2) continue;
    last = at;
    svg.write(at, y < 0 ? frame.max.y - 4 : frame.min.y + 11, "middle",
              std::isnan(y) ? "\xc3\x97"
              : y < 0       ? "\xe2\x96\xbc"
                            : "\xe2\x96\xb2",
              hex_color(line.color));
  }
}

// Name, last value and gaps of each line, in rows as wide as the chart. Returns the height.
float draw_legend(Svg* svg, const std::vector<PlotLine>& lines, float top, float width) {
  float x = 0, y = top;
  for (const PlotLine& line : lines) {
    if (line.raw->size() == 0) continue;
    std::string text = line.name + "  " + axis_number(line.raw->y(line.raw->size() - 1), 1e-4);
    if (line.raw->nan_count()) text += ", " + std::to_string(line.raw->nan_count()) + " NaN";
    if (line.raw->inf_count()) text += ", " + std::to_string(line.raw->inf_count()) + " Inf";
    const float wide = 34 + 7 * float(text.size());
    if (x > 0 && x + wide > width) x = 0, y += 16;
    if (svg) {
      svg->path({{60 + x, y - 4}, {84 + x, y - 4}}, hex_color(line.color), 2, 1, line.dash);
      svg->write(90 + x, y, "start", text, svg->text_);
    }
    x += wide;
  }
  return y - top + 16;
}

}  // namespace

CsvSeries::CsvSeries(const RunCurves& of_run, const Metric& of)
    : run(of_run.name),
      folder(of.probe ? "" : of_run.folder),
      metric(of.name),
      smoothing(of.smoothing()),
      merged(of.raw.merged()),
      steps(of.raw.xs()),
      values(of.raw.ys()),
      smoothed(of.smooth.ys()) {
  for (size_t i = 0; i < steps.size(); ++i) times.push_back(of.time(i));
}

bool complete(std::vector<CsvSeries>& all) {
  RecordedRuns runs;
  bool exact = true;
  for (CsvSeries& series : all) {
    if (series.merged == 0) continue;
    const RecordedPoints* const recorded = runs.find(series.folder, series.metric);
    exact &= recorded != nullptr;
    if (!recorded) continue;
    const double last = series.steps[series.merged - 1];
    Smoother smoother(series.smoothing);
    std::vector<double> steps, times, values, smoothed;
    for (size_t i = 0; i < recorded->steps.size() && recorded->steps[i] <= last; ++i) {
      steps.push_back(recorded->steps[i]);
      times.push_back(recorded->times[i]);
      values.push_back(recorded->values[i]);
      smoothed.push_back(smoother.next(steps.back(), values.back()));
    }
    // The last rows may not be in the file yet: they are taken from memory.
    const auto put = [&](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin() + std::ptrdiff_t(series.merged), from.end());
    };
    put(steps, series.steps);
    put(times, series.times);
    put(values, series.values);
    put(smoothed, series.smoothed);
    series.merged = 0;
    series.steps = std::move(steps);
    series.times = std::move(times);
    series.values = std::move(values);
    series.smoothed = std::move(smoothed);
  }
  return exact;
}

std::string charts_as_csv(const std::vector<CsvSeries>& all) {
  std::string csv = "run,metric,step,time,value,smoothed\n";
  for (const CsvSeries& series : all) {
    const std::string names = csv_field(series.run) + "," + csv_field(series.metric) + ",";
    for (size_t i = 0; i < series.steps.size(); ++i) {
      csv += names;
      csv += shortest_number(series.steps[i]);
      for (const double value : {series.times[i], series.values[i], series.smoothed[i]}) {
        csv += ',';
        csv += shortest_number(value);
      }
      csv += '\n';
    }
  }
  return csv;
}

std::string charts_as_svg(const std::vector<SvgChart>& charts, const PlotAxis& axis, int width, int height,
                          bool dark) {
  Svg svg(width, height * int(charts.size()), dark);
  float top = 0;
  int id = 0;
  for (const SvgChart& chart : charts) {
    const float room = float(width) - 80, head = 24 + draw_legend(nullptr, chart.lines, 0, room);
    const PlotFrame frame({60, top + head}, {float(width) - 20, top + float(height) - 30}, axis.scale,
                          axis.low, axis.high, chart.y.scale, chart.y.low, chart.y.high);
    svg.write(60, top + 20, "start", chart.title, svg.text_, "font-weight=\"bold\"");
    draw_legend(&svg, chart.lines, top + 38, room);
    const auto y_ticks = axis_ticks(frame.y, frame.y0, frame.y1, std::max(2, int(frame.height() / 34)));
    for (size_t i = 0; i < y_ticks.size(); ++i) {
      const float y = frame.py(y_ticks[i]);
      svg.line(frame.min.x, y, frame.max.x, y, svg.grid_);
      svg.write(frame.min.x - 6, y + 4, "end", axis_number(y_ticks[i], tick_distance(frame.y, y_ticks, i)),
                svg.text_);
    }
    const auto x_ticks = axis.ticks(10);
    for (size_t i = 0; i < x_ticks.size(); ++i) {
      const float x = frame.px(x_ticks[i]);
      svg.line(x, frame.min.y, x, frame.max.y, svg.grid_);
      svg.write(x, frame.max.y + 15, "middle", axis_number(x_ticks[i], tick_distance(frame.x, x_ticks, i)),
                svg.text_);
    }
    svg.write(frame.max.x, frame.max.y + 27, "end", axis.label, svg.text_);
    svg.begin_clip(id++, frame);
    for (const PlotLine& line : chart.lines)
      if (line.band_low) svg.area(trace_band(*line.band_low, *line.band_high, frame), hex_color(line.color));
    for (const PlotLine& line : chart.lines)
      trace(*line.raw, frame, [&](const std::vector<ImVec2>& points) {
        svg.path(points, hex_color(line.color), line.smooth ? 1 : 1.5f, line.smooth ? kRawStrength : 1,
                 line.smooth ? 0 : line.dash);
      });
    for (const PlotLine& line : chart.lines)
      if (line.smooth)
        trace(*line.smooth, frame, [&](const std::vector<ImVec2>& points) {
          svg.path(points, hex_color(line.color), 2, 1, line.dash);
        });
    for (const PlotLine& line : chart.lines) write_not_finite(svg, line, frame);
    for (const PlotMark& mark : chart.marks) {
      if (!frame.x.shows(mark.x) || mark.x < frame.x0 || mark.x > frame.x1) continue;
      const float x = frame.px(mark.x);
      svg.line(x, frame.min.y, x, frame.max.y, hex_color(mark.color), "stroke-dasharray=\"2 4\"");
      svg.write(x, frame.max.y - 4, "middle", mark.brief.empty() ? mark.kind : mark.brief,
                hex_color(mark.color));
    }
    svg.end_clip();
    top += float(height);
  }
  return svg.finish();
}

}  // namespace lunagrad
