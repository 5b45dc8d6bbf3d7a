#include "script/cli/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/core/figures.h"
#include "runtime/core/terminal_text.h"

namespace lunagrad {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLines{5};
constexpr int kBarCells = 20;

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char buffer[128];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

std::string metrics_text(const ProgressState& state) {
  std::string text;
  // printf may write NaN with a sign.
  for (const auto& [name, value] : state.metrics)
    text += "  " + terminal_line(name) + (std::isnan(value) ? " nan" : " " + number_figure(value));
  return text;
}

std::string speed_text(const ProgressState& state) {
  if (state.rate <= 0) return {};
  std::string text =
      state.rate >= 10 ? formatted("  %.0f it/s", state.rate) : formatted("  %.2f it/s", state.rate);
  if (state.total > state.step)
    text += "  " + clock_figure(std::round(double(state.total - state.step) / state.rate)) + " left";
  return text;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value && *value) return std::strstr(value, "UTF-8") || std::strstr(value, "utf8");
  }
  return false;
}

std::string bar(double part, bool utf8) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = int(std::clamp(part, 0.0, 1.0) * kBarCells * 8);
  std::string cells;
  for (int i = 0; i < eighths / 8; ++i) cells += utf8 ? "█" : "#";
  int used = eighths / 8;
  if (utf8 && eighths % 8) {
    cells += kEighths[eighths % 8];
    ++used;
  }
  return cells + std::string(size_t(kBarCells - used), utf8 ? ' ' : '.');
}

}  // namespace

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string cut_to_columns(const std::string& text, int width) {
  int columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (columns++ == width) return text.substr(0, i);
  }
  return text;
}

ProgressStyle resolve(ProgressStyle style, bool json) {
  if (json) return ProgressStyle::none;
  if (style != ProgressStyle::automatic) return style;
  const char* terminal = std::getenv("TERM");
  const char* ci = std::getenv("CI");
  const bool dumb = !terminal || std::strcmp(terminal, "dumb") == 0;
  return isatty(STDERR_FILENO) && !dumb && !(ci && *ci) ? ProgressStyle::bar : ProgressStyle::none;
}

std::string bar_line(const ProgressState& state, int width, bool utf8) {
  std::string line;
  if (state.total > 0) {
    const double part = double(state.step) / double(state.total);
    line = formatted("%3d%% ", int(part * 100)) + bar(part, utf8) +
           formatted(" %lld/%lld", static_cast<long long>(state.step), static_cast<long long>(state.total));
  } else {
    line = formatted("step %lld", static_cast<long long>(state.step));
  }
  return cut_to_columns(line + metrics_text(state) + speed_text(state), width);
}

std::string plain_line(const ProgressState& state) {
  std::string line = formatted("step %lld", static_cast<long long>(state.step));
  if (state.total > 0) line += formatted("/%lld", static_cast<long long>(state.total));
  return line + metrics_text(state) + speed_text(state);
}

void show_count(size_t done, size_t all, std::string_view name) {
  static const bool on_terminal = isatty(STDERR_FILENO);
  if (!on_terminal) return;
  std::fputs("\r\x1b[K", stderr);
  if (done < all) std::fprintf(stderr, "[%zu/%zu] %s", done + 1, all, terminal_line(name).c_str());
  std::fflush(stderr);
}

Progress::Progress(ProgressStyle style) : style_(style), utf8_(locale_is_utf8()) {}

Progress::~Progress() { finish(); }

void Progress::step(int64_t step, int64_t total) {
  if (style_ == ProgressStyle::none) return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  state_.step = step;
  state_.total = total;
  if (!started_) {
    started_ = true;
    rate_time_ = last_draw_ = now;
    rate_step_ = step;
  }
  const bool bar = style_ == ProgressStyle::bar;
  if (now - last_draw_ < (bar ? Clock::duration(kRedraw) : Clock::duration(kPlainLines))) return;
  const double seconds = std::chrono::duration<double>(now - rate_time_).count();
  const double rate = double(step - rate_step_) / seconds;
  // The bar shows the mean with the previous rate: it does not flicker, and follows changes within a second.
  state_.rate = state_.rate > 0 && bar ? 0.5 * (state_.rate + rate) : rate;
  rate_time_ = last_draw_ = now;
  rate_step_ = step;
  draw();
}

void Progress::metrics(const Event& event) {
  if (style_ == ProgressStyle::none) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, value] : event.metrics) {
    const auto known = std::find_if(state_.metrics.begin(), state_.metrics.end(),
                                    [&name = name](const auto& metric) { return metric.first == name; });
    if (known == state_.metrics.end()) {
      state_.metrics.emplace_back(name, value);
    } else {
      known->second = value;
    }
  }
}

void Progress::write(std::FILE* stream, std::string_view text) {
  const std::lock_guard lock(mutex_);
  clear();
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (!started_) return;
  started_ = false;
  clear();
  if (style_ == ProgressStyle::bar) {
    std::fprintf(stderr, "%s\n", bar_line(state_, terminal_width() - 1, utf8_).c_str());
  } else {
    std::fprintf(stderr, "%s\n", plain_line(state_).c_str());
  }
}

void Progress::draw() {
  if (style_ == ProgressStyle::plain) {
    std::fprintf(stderr, "%s\n", plain_line(state_).c_str());
    return;
  }
  const std::string line = "\r" + bar_line(state_, terminal_width() - 1, utf8_) + "\x1b[K";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

}  // namespace lunagrad
