#include "ui/inspect/node_inquiry.h"

namespace lunagrad {

void NodeInquiry::check_gradient(SessionInspection& session, int64_t step, uint64_t node) {
  devices_.forget();
  gradient_.forget();
  node_ = node;
  ++number_;
  auto answered = gradient_.ask();
  session.check_gradient(step, node, gradient_.stop_token(), std::move(answered));
}

void NodeInquiry::compare_devices(SessionInspection& session, int64_t step, uint64_t node) {
  devices_.forget();
  gradient_.forget();
  node_ = node;
  ++number_;
  auto answered = devices_.ask();
  session.compare_devices(step, node, devices_.stop_token(), std::move(answered));
}

void NodeInquiry::cancel() {
  gradient_.cancel();
  devices_.cancel();
}

void NodeInquiry::close() {
  gradient_.forget();
  devices_.forget();
  node_ = 0;
}

void NodeInquiry::copy(SessionInspection& session, const TensorPlace& place, const SliceQuery& query,
                       SliceFormat format) {
  session.print_slice(place, query, format, [done = text_.ask()](std::string text, std::string error) {
    done({std::move(text), std::move(error)});
  });
}

void NodeInquiry::save(SessionInspection& session, const TensorPlace& place, const std::string& path) {
  session.save_tensor(place, path, [path, done = file_.ask()](std::string error) {
    done({path, std::move(error)});
  });
}

std::optional<NodeInquiry::Answer> NodeInquiry::update() {
  if (const auto copied = text_.take()) {
    if (!copied->error.empty()) return Answer{copied->error, {}, true};
    return Answer{"copied " + std::to_string(copied->text.size()) + " characters", copied->text};
  }
  if (const auto saved = file_.take()) {
    if (!saved->error.empty()) return Answer{saved->error, {}, true};
    return Answer{"saved " + saved->path, {}};
  }
  return {};
}

}  // namespace lunagrad
