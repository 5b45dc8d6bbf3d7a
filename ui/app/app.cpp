#include "ui/app/app.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include "runtime/core/error.h"
#include "runtime/core/terminal_text.h"
#include "runtime/io/atomic_file.h"
#include "script/run/folder.h"
#include "ui/app/commands.h"
#include "ui/base/redraw.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

std::atomic<bool> App::terminated_{false};

// Field 22 of /proc/self/stat: the start of the process in clock ticks after boot.
double milliseconds_since_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 2, line.size())));
  std::string skipped;
  for (int i = 3; i < 22; ++i) fields >> skipped;
  double ticks = 0;
  fields >> ticks;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return 1e3 * (double(now.tv_sec) + 1e-9 * double(now.tv_nsec) - ticks / double(sysconf(_SC_CLK_TCK)));
}

App::Start App::prepare(Options options) {
  Start start{std::move(options), {}, {}};
  start.settings = read_settings(start.options.state_folder, start.note);
  Window::Options& window = start.options.window;
  if (!start.options.sized) {
    window.width = start.settings.width;
    window.height = start.settings.height;
  }
  if (!start.options.themed) window.dark = start.settings.dark;
  if (window.scale != 0) start.settings.scale = window.scale;
  window.scale = start.settings.scale;
  const std::string& script = start.options.script;
  window.title = script.empty() ? "Lunagrad" : printable(script) + " - Lunagrad";
  return start;
}

App::App(Options options) : App(prepare(std::move(options))) {}

App::App(Start start)
    : times_(start.options.times),
      main_began_(start.options.main_began),
      restart_(start.options.restart),
      marker_(start.options.state_folder),
      window_(start.options.window),
      bench_(start.options.script, start.options.run, &Window::wake),
      panels_(make_panels()),
      regions_(panels_),
      toolbar_(&Window::wake),
      keeper_(start.options.state_folder),
      shown_scale_(start.settings.scale) {
  bench_.shell().settings() = std::move(start.settings);
  bench_.shell().set_state_folder(start.options.state_folder);
  if (!bench_.settings().has_layout) {
    bench_.shell().use_layout(bench_.settings().preset,
                              preset_layout(bench_.settings().preset, regions_.places()));
    bench_.shell().settings().layout.focused = "Tape";
  }
  if (!start.options.drive.empty()) bench_.description().enable();
  bench_.shell().set_take_picture(
      [this](const std::string& path, ImVec2 min, ImVec2 max, std::function<void(const std::string&)> done) {
        const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
        window_.presenter().capture_part(
            int(min.x * scale.x), int(min.y * scale.y), int(max.x * scale.x), int(max.y * scale.y),
            [this, path, done = std::move(done)](FramePixels pixels, const std::string& problem) {
              if (!problem.empty()) return done(problem);
              bench_.shell().background_tasks().add(
                  [path, pixels = std::move(pixels)] { write_file(path, png_of(pixels)); }, done);
            });
      });
  Window::on_lost_display([this] { end_without_display("the display is gone"); });
  if (!start.note.empty()) bench_.shell().notice(start.note);
  add_window_commands(bench_,
                      {palette_, key_sheet_, regions_, panels_, [this] { toolbar_.open_run_settings(); },
                       [this] { window_.set_wants_to_close(true); }});
  for (const auto& panel : panels_) panel->add_commands(bench_);
  for (const std::string& key : bench_.commands().rebind(bench_.settings().keys))
    bench_.shell().notice(settings_file(bench_.shell().state_folder()) + ": there is no key " + key);

  if (!start.options.drive.empty())
    drive_ = std::make_unique<Drive>(start.options.drive, start.options.drive_arguments, window_, bench_);
  open_at_start(start);
}

// Files that the window opens at its start are not recorded as actions of the user.
void App::open_at_start(const Start& start) {
  const Actions::Quiet quiet(bench_.actions());
  bench_.texts().open_kept(bench_.script());
  std::string script = start.options.script;
  if (const auto& crashed = marker_.crashed()) {
    const OpenRun was = open_run_from(*crashed);
    const bool reopens = script.empty() && !was.script.empty();
    if (reopens) script = was.script;
    Shell::Notice notice;
    notice.sentence = "Lunagrad closed unexpectedly. ";
    notice.sentence += reopens ? "Layout and script were restored." : "The layout was restored.";
    if (reopens) {
      bench_.control().open(was.script);
      restore_run(was, notice);
    }
    bench_.shell().notice(std::move(notice));
  }
  // The absolute path, since the next start may be in another folder.
  std::error_code failed;
  if (!script.empty()) {
    if (const auto whole = std::filesystem::absolute(script, failed); !failed)
      bench_.shell().settings().remember(whole.lexically_normal().string());
  }
  if (start.options.trust) {
    TrustController& trust = bench_.control().trust();
    const std::string& run = start.options.opened_run;
    trust.trust(run.empty() ? trust.home_of(start.options.script) : run);
  }
  if (!start.options.opened_run.empty())
    bench_.control().open_run(start.options.opened_run);
  else if (!start.options.script.empty())
    bench_.control().run();
  else if (!script.empty())
    bench_.control().open(script);
  else
    bench_.shell().show_panel("Examples and help");
}

// Ends the current run: an interrupt takes effect within its current kernel, and the session waits for it.
App::~App() {
  bench_.control().interrupt();
  keep_everything();
  Window::on_lost_display({});
}

// The seconds between the last frame and the next one if nothing else happens.
double App::frame_interval(bool dirty) const {
  // A driver that draws on the CPU slows the training down: frames for news are fewer then, frames for input
  // are not.
  constexpr double kNews = 1.0 / 30, kSlowNews = 0.1;
  const double frame = drive_ ? drive_->frame_seconds() : 1.0 / 60;
  if (window_.input_queued()) return 0;
  if (warm_ > 0) return frame;
  if (dirty) return window_.presenter().software() ? kSlowNews : kNews;
  return std::numeric_limits<double>::infinity();
}

int App::loop() {
  constexpr int kWarm = 3;          // Dear ImGui needs a few frames to settle after input
  constexpr double kLook = 0.5;     // between checks of things that send no news, such as files
  constexpr double kRunning = 0.5;  // between updates of the clock and of whether the script answers
  const auto seconds_since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  bool dirty = true, first = true;
  Clock::time_point last{}, kept = Clock::now();
  warm_ = kWarm;
  while (!may_close()) {
    const auto due = [&] { return std::min(frame_interval(dirty) - seconds_since(last), demanded_draw()); };
    if (window_.wait(std::clamp(due(), 0.0, kLook)) || drive_) warm_ = kWarm;
    dirty |= Window::woken_up();
    if (dirty && due() > 0) continue;  // news are drawn in the next due frame
    Window::take_wake();
    dirty |= bench_.update();
    if (seconds_since(kept) > 1) {
      kept = Clock::now();
      keep_settings();
    }
    if (due() > 0) continue;
    last = Clock::now();
    begin_demands();
    try {
      draw_frame();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      end_without_display(error.what());
    }
    const Journal& journal = bench_.journal();
    if (journal.active() && journal.state() != SessionState::paused) draw_again_in(kRunning);
    if (std::exchange(first, false) && times_) print_times();
    dirty = false;
    warm_ = std::max(warm_ - 1, 0);
    if (drive_ && drive_->after_frame(bench_.description())) break;
  }
  const bool failed = (drive_ && drive_->failed()) || window_.presenter().validation_messages() > 0;
  const int code = failed ? 1 : 0;
  if (script_hangs()) {
    keep_everything();
    marker_.end();
    std::_Exit(code);
  }
  return code;
}

void App::print_times() const {
  const Spent driver = window_.driver_time();
  std::fprintf(stderr,
               "first frame after %.0f ms, of which the driver took %.0f ms: %.0f ms until main began, %.0f "
               "ms for fonts\n"
               "CPU time until then, without the driver: %.0f ms\n",
               milliseconds_since_start(), 1e3 * driver.seconds, main_began_,
               1e3 * window_.font_time().seconds, 1e3 * (thread_cpu_seconds() - driver.cpu_seconds));
}

// Whether the run does not react to an interrupt. Nothing in this process can end it then.
bool App::script_hangs() {
  bench_.control().interrupt();
  for (;;) {
    const std::optional<Silence> silence = bench_.session().silence();
    if (!silence) return false;
    if (silence->seconds > Notices::kPatience) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void App::keep_everything() {
  bench_.texts().documents().keep_unsaved();
  bench_.texts().documents().settle();
  keep_settings();
  if (const std::string failed = keeper_.finish(bench_.settings()); !failed.empty())
    std::fprintf(stderr, "lunagrad-workbench: %s\n", terminal_text(failed).c_str());
}

// Keeps unsaved text and lets the current run write its checkpoint, as after a Ctrl-C. The marker stays, so
// that the next start reopens the script.
void App::end_without_display(const char* why) {
  std::fprintf(stderr, "lunagrad-workbench: %s; unsaved text is kept, and a run stops with a checkpoint\n",
               why);
  Window::on_lost_display([] { std::_Exit(5); });
  bench_.texts().documents().keep_unsaved();
  bench_.texts().documents().settle();
  keeper_.finish(bench_.settings());
  bench_.control().stop_at_step_boundary();
  constexpr std::chrono::seconds kPatience{15};  // longer than a stop waits for the end of a step
  for (const auto began = Clock::now(); bench_.journal().active() && Clock::now() - began < kPatience;
       bench_.update())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::_Exit(5);
}

// The marker stays, so that the next start reopens the script, as after a crash.
void App::restart() {
  if (!bench_.texts().keep_all()) {
    bench_.shell().notice("Not restarted: some texts could not be saved. The console lists them.");
    return;
  }
  keep_everything();
  restart_();
  bench_.shell().notice("The window cannot restart itself. Close it and start it again.");
}

bool App::may_close() {
  if (terminated_.load() || quit_) return true;
  if (!window_.wants_to_close()) return false;
  window_.set_wants_to_close(false);
  return closing_.request(bench_);
}

void App::keep_settings() {
  Settings& settings = bench_.shell().settings();
  settings.dark = theme().dark;
  window_.size(settings.width, settings.height);
  settings.has_layout = true;
  if (const std::string failed = keeper_.keep(settings); !failed.empty()) bench_.shell().notice(failed);
  mark_run();
  if (bench_.script() == titled_script_) return;
  titled_script_ = bench_.script();
  window_.set_title(titled_script_.empty() ? "Lunagrad" : printable(titled_script_) + " - Lunagrad");
}

// Writes to the marker what the next start needs after a crash.
void App::mark_run() {
  OpenRun now;
  std::error_code failed;
  const auto absolute = [&](const std::string& path) {
    const auto whole = std::filesystem::absolute(path, failed);
    return path.empty() || failed ? path : whole.lexically_normal().string();
  };
  now.script = absolute(bench_.script());
  if (bench_.journal().active()) now.folder = absolute(bench_.journal().run_folder());
  const RunOptions& next = bench_.control().options();
  now.options = bench_.journal().active() ? bench_.control().options_of_run() : next;
  now.options.sandbox = next.sandbox;  // a run that is sandboxed by its own options says so in its folder
  const std::string text = text_of(now);
  if (text == marked_) return;
  marked_ = text;
  marker_.set_text(text);
}

// Restores the script's arguments and settings, and offers to continue its run.
void App::restore_run(const OpenRun& was, Shell::Notice& notice) {
  bench_.control().restore_options(was.options);
  if (was.folder.empty()) return;
  std::string checkpoint;
  try {
    checkpoint = latest_checkpoint(was.folder);
  } catch (const Error&) {
  }
  if (checkpoint.empty()) {
    notice.sentence += " Its run has no checkpoint.";
    return;
  }
  notice.label = "Resume run";
  notice.help = "Continues the run from its newest checkpoint, with its arguments and parameters.";
  notice.action = [this, was] { bench_.control().resume(was.folder, was.options); };
}

void App::apply_scale() {
  const bool other_monitor = window_.monitor_scale_changed() && bench_.settings().scale == 0;
  if (shown_scale_ == bench_.settings().scale && !other_monitor) return;
  shown_scale_ = bench_.settings().scale;
  window_.set_scale(shown_scale_);
}

static bool popup_is_open() {
  return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

void App::draw_frame() {
  apply_scale();
  bench_.description().clear();
  window_.begin_frame([this] {
    if (drive_) drive_->inject();
    // Ctrl+Tab switches panels. Dear ImGui would use it to switch its windows, and there is only one.
    keep_ctrl_tab();
  });
  handle_keys();
  draw_content();
  if (const ShownTip* const tip = shown_tip()) {
    bench_.description().add("tip", tip->text, tip->area.min, tip->area.max);
    bench_.description().add("tip.subject", tip->text, tip->subject.min, tip->subject.max);
  }
  popup_open_ = popup_is_open();
  // While more input waits, a frame is built but not drawn, for at most this long.
  constexpr std::chrono::milliseconds kLongest{50};
  const bool hurries = window_.input_queued() && Clock::now() - drawn_at_ < kLongest;
  const bool shown = !hurries && (!drive_ || drive_->shows_frame());
  if (shown) drawn_at_ = Clock::now();
  window_.end_frame(shown);
}

void App::handle_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  // A popup gets the keys. At this point Escape has closed it.
  const bool over = popup_is_open() || popup_open_;
  for (int key = GLFW_KEY_SPACE; key <= GLFW_KEY_LAST; ++key) {
    if (!key_pressed(key, true)) continue;
    const Chord chord{key, io.KeyCtrl, io.KeyShift, io.KeyAlt};
    const bool typing = io.WantTextInput;
    if (over && types_text(chord)) continue;
    if (key == GLFW_KEY_ESCAPE && (over || typing)) continue;
    const Command* command =
        bench_.commands().meant(chord, regions_.focused(bench_.settings().layout), typing);
    if (command && bench_.commands().enabled(*command)) {
      if (command->repeats || key_pressed(key, false)) bench_.commands().run(*command);
      return;
    }
  }
}

void App::draw_content() {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float gap = em(0.5f);
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::Begin("workbench", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNavFocus);
  ImGui::PopStyleVar(2);
  const ImVec2 at = viewport->Pos, size = viewport->Size;
  bench_.description().add("window", theme().dark ? "dark theme" : "light theme", at,
                           {at.x + size.x, at.y + size.y});
  ImGui::SetCursorScreenPos({at.x + gap, at.y + gap});
  ImGui::BeginChild("toolbar", {std::max(size.x - 2 * gap, 1.0f), ImGui::GetFrameHeight()}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  toolbar_.draw(bench_);
  ImGui::EndChild();
  ImGui::SetCursorScreenPos({at.x + gap, at.y + ImGui::GetFrameHeight() + 2 * gap});
  where_strip_.draw(bench_, size.x - 2 * gap);
  if (notices_.draw(bench_, size.x - 2 * gap)) restart();
  why_strip_.draw(bench_, size.x - 2 * gap);
  const ImVec2 body{at.x + gap, ImGui::GetCursorScreenPos().y};
  regions_.draw(bench_, body, {at.x + size.x - gap - body.x, at.y + size.y - gap - body.y});
  palette_.draw(bench_);
  key_sheet_.draw(bench_);
  trust_question_.draw(bench_);
  if (closing_.draw(bench_)) quit_ = true;
  ImGui::End();
}

}  // namespace lunagrad
