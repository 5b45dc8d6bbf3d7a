#include "ui/editor/live_gutter.h"

#include <algorithm>

#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

std::string time_text(const LineCost& cost) {
  const double ns = cost.forward_ns + cost.backward_ns;
  return ns > 0 ? duration_figure(ns) : std::string();
}

std::string bytes_text(const LineCost& cost) { return bytes_figure(double(cost.bytes)); }

std::string norm_text(const LineCost& cost) {
  return cost.gradient ? number_figure(*cost.gradient, 3) : std::string();
}

std::string shape_of(const LineCost& cost) { return cost.shape; }

}  // namespace

std::vector<CostColumn> LiveGutter::default_columns() {
  return {
      {"time", "Forward and backward of the line's operations. The bar compares it with the slowest line.",
       true, time_text},
      {"output", "Shape of the last tensor that the line made.", true, shape_of},
      {"bytes", "Memory of all outputs of the line's operations.", false, bytes_text},
      {"|grad|", "Norm of the gradients that reached the line's outputs.", true, norm_text}};
}

bool LiveGutter::offers(const CostColumn& column) const {
  return column.text != norm_text || costs_.knows_gradients();
}

bool LiveGutter::belongs(const Document& document, const std::string& file) {
  return document.path.empty() ? document.title == file : same_file(document.path, file);
}

bool LiveGutter::update(const TapeSnapshot* tape, const Document& document, const SourceTextPtr& ran) {
  const uint64_t newest = tape && !tape->nodes.empty() ? tape->nodes[0].id : 0;
  const bool fresh = tape != tape_ || newest != newest_;
  if (fresh) {
    tape_ = tape;
    newest_ = newest;
    costs_ = tape ? LineCosts(*tape) : LineCosts();
  }
  const bool other_text = document.id != document_ || document.buffer.revision() != revision_ ||
                          document.run_lines.data() != run_lines_ || ran != ran_;
  if (other_text) match(document, ran);
  if (!fresh && !other_text) return false;
  shown_ = nullptr;
  for (const auto& [file, lines] : costs_.files())
    if (belongs(document, file)) shown_ = &lines;
  return fresh;
}

static std::vector<std::string> lines_of(const Document& document) {
  std::vector<std::string> lines;
  for (int i = 0; i < document.buffer.line_count(); ++i) lines.push_back(document.buffer.line(i));
  return lines;
}

void LiveGutter::match(const Document& document, const SourceTextPtr& ran) {
  document_ = document.id;
  revision_ = document.buffer.revision();
  run_lines_ = document.run_lines.data();
  ran_ = ran;
  const std::vector<std::string> before = ran ? ran->lines() : document.run_lines;
  before_ = before.empty() ? std::vector<int>() : matching_lines(before, lines_of(document));
}

const LineCost* LiveGutter::cost(int line) const {
  if (!shown_) return nullptr;
  const int before = before_.empty() ? line : size_t(line) < before_.size() ? before_[size_t(line)] : -1;
  const auto found = before < 0 ? shown_->end() : shown_->find(before + 1);
  return found == shown_->end() ? nullptr : &found->second;
}

int LiveGutter::line_now(int line) const {
  if (before_.empty()) return line - 1;
  const auto found = std::find(before_.begin(), before_.end(), line - 1);
  return found == before_.end() ? -1 : int(found - before_.begin());
}

int LiveGutter::line_now(const SourceText& ran, int line, const Document& document) {
  const std::vector<int> before = matching_lines(ran.lines(), lines_of(document));
  const auto found = std::find(before.begin(), before.end(), line - 1);
  return found == before.end() ? -1 : int(found - before.begin());
}

float LiveGutter::heat(int line) const {
  const LineCost* here = cost(line);
  if (!here || costs_.slowest_ns() <= 0) return 0;
  return float((here->forward_ns + here->backward_ns) / costs_.slowest_ns());
}

std::string LiveGutter::sentence(int line) const {
  const LineCost* here = cost(line);
  if (!here) return {};
  const auto time = [](double ns) { return ns > 0 ? duration_figure(ns) : std::string("not measured"); };
  std::string text = "line " + std::to_string(line + 1) + ": " + std::to_string(here->nodes.size()) +
                     (here->nodes.size() == 1 ? " node" : " nodes") + " of the tape\nforward " +
                     time(here->forward_ns) + ", backward " + time(here->backward_ns) + "\n" +
                     bytes_text(*here) + " of outputs, the last " + here->shape;
  if (here->gradient) text += "\nnorm of the gradients " + norm_text(*here);
  return text;
}

}  // namespace lunagrad
