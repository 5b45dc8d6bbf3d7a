#include "ui/base/pause_text.h"

#include <algorithm>

#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

using Reason = PausePosition::Reason;

// What is not finite: "NaN", "Inf" or "-Inf".
std::string kind_of_value(const PausePosition& at) {
  std::string all;
  for (const PausePosition::Value& value : at.results) all += " " + value.text;
  if (all.find("NaN") != all.npos) return "NaN";
  return all.find(" Inf") != all.npos || all.find("-Inf") == all.npos ? "Inf" : "-Inf";
}

std::string reason_of(const PausePosition& at) {
  const std::string number = count_figure(at.step);
  const std::string in = at.step > 0 ? " in step " + number : "";
  switch (at.reason) {
    case Reason::request:
      return "Paused" + in;
    case Reason::op:
      return "One operation" + in;
    case Reason::line:
      return "One line" + in;
    case Reason::step:
      return at.step > 0 ? "Paused after step " + number : "Paused";
    case Reason::breakpoint:
      return "Breakpoint on " + at.summary + (at.summary.starts_with("step ") ? "" : in);
    case Reason::not_finite:
      return kind_of_value(at) + in;
    case Reason::error:
      return "Error" + in;
  }
  return {};
}

}  // namespace

PauseText pause_text(const PausePosition& at) {
  PauseText text;
  text.reason = reason_of(at);
  if (at.place.line > 0) text.place = file_name(at.place.file) + ":" + std::to_string(at.place.line);
  if (!at.op.empty())
    text.op =
        (at.backward ? "backward of " : "") + at.op + (at.called_as.empty() ? "" : " in " + at.called_as);
  for (const auto* const side : {&at.operands, &at.results})
    for (const PausePosition::Value& value : *side)
      text.values += (text.values.empty() ? "" : "; ") + value.name + ": " + value.text;
  if (text.values.empty() && at.backward) text.values = at.summary;
  switch (at.reason) {
    case Reason::op:
      text.action = "Step op (F11)";
      text.command = "Step one operation";
      break;
    case Reason::line:
      text.action = "Step line (F10)";
      text.command = "Step one line";
      break;
    case Reason::step:
      text.action = "Step (F8)";
      text.command = "Step one iteration";
      break;
    case Reason::error:
      text.action = at.good_step < 0 ? "Go on" : "Go on from step " + count_figure(at.good_step);
      text.command = "Go on from the last good step";
      break;
    case Reason::request:
    case Reason::breakpoint:
    case Reason::not_finite:
      text.action = "Continue (F5)";
      text.command = "Run or continue";
      break;
  }
  return text;
}

std::string without_middle(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  const auto is_inside = [&](size_t at) { return at < text.size() && (text[at] & 0xc0) == 0x80; };
  size_t head = most - most / 3, tail = text.size() - most / 3;
  while (head > 0 && is_inside(head)) --head;
  while (tail < text.size() && is_inside(tail)) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

}  // namespace lunagrad
