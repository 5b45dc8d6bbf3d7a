#pragma once
// A file that TensorBoard reads: TFRecords of protocol buffers, appended one by one. The formats are
// described in tensorflow/core/lib/io/record_writer.h and core/util/event.proto, the checksum in RFC 3720,
// appendix B.4. Belongs to the session's thread.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/statistics/statistics.h"
#include "runtime/system/open_file.h"

namespace lunagrad {

// A description of the damage in a file of events; "" when there is none. A last record that a crash cut off
// is not damage.
std::string damage_of_event_file(const std::string& content);

class EventFile {
 public:
  // Makes a file events.out.tfevents.<seconds>.<host>.<process> in the folder, whose name sorts after the
  // existing names. A failure is reported once, and everything after it is dropped.
  EventFile(const std::string& folder, std::function<void(const std::string&)> warn);

  // The run continues with `step`: readers drop the earlier records of this and later steps.
  void go_on(int64_t step);

  // `time` is in seconds since 1970.
  void scalar(std::string_view tag, double value, int64_t step, double time);
  void text(std::string_view tag, std::string_view value, int64_t step, double time);
  void histogram(std::string_view tag, const Statistics&, int64_t step, double time);
  void image(std::string_view tag, int64_t channels, int64_t height, int64_t width, std::string_view png,
             int64_t step, double time);

 private:
  void event(const std::string& body, int64_t step, double time);

  std::string path_;
  std::function<void(const std::string&)> warn_;
  OpenFile file_;
};

}  // namespace lunagrad
