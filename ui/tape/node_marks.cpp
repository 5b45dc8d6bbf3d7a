#include "ui/tape/node_marks.h"

#include <atomic>

namespace lunagrad {

uint64_t next_marks_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

std::vector<BoxMark> box_marks(const NodeMarks& marks, const TapePicture& picture) {
  std::vector<BoxMark> boxes(picture.boxes.size());
  for (size_t i = 0; i < marks.of.size() && i < picture.box_of.size(); ++i) {
    BoxMark& box = boxes[picture.box_of[i]];
    if (marks.of[i] > box.kind) box = {marks.of[i], 0};
    box.count += marks.of[i] >= 0 && marks.of[i] == box.kind;
  }
  return boxes;
}

}  // namespace lunagrad
