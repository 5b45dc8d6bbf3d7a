#pragma once
// One tensor of the selected node, its value or its gradient: as cells, as pictures or as a histogram, with
// statistics, a scale of colours, copies and a file. Which slice is shown is chosen for value and gradient
// together. Drawing thread.
#include <memory>
#include <string>
#include <vector>

#include "ui/widgets/heatmap.h"
#include "ui/widgets/image_grid.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

struct SliceChoice {
  enum class Mode { cells, images, histogram } mode = Mode::cells;
  int row_dim = -1, column_dim = -1;  // -1: the last two
  int channel_dim = -1;               // of pictures
  std::vector<int> at;                // position in each dim, from 1
  ComplexPart part = ComplexPart::magnitude;
  bool normalize_each = true;
  int first_tile = 1;
  std::vector<int64_t> shape;  // these belong to

  // Starts anew for a tensor of another shape.
  void fit(const std::vector<int64_t>& its_shape);
};

// The line of controls: how it is shown, which dims are rows and columns, positions in the others.
void draw_slice_controls(Workbench&, SliceChoice&, const std::string& dtype, int64_t tiles);

class TensorPane {
 public:
  TensorPane(const char* heading, const char* item, bool gradient)
      : heading_(heading), item_(item), gradient_(gradient) {}
  // What it wants to be given by the probe.
  ValueProbe::Look look(const SliceChoice&) const;
  void draw(Workbench&, const SliceChoice&, const std::string& tensor_name);
  void reset() { map_.reset(); }
  void follow(const TensorPane& other);  // the same part of the slice, the same element

 private:
  void draw_heading(Workbench&, const SliceChoice&, const SliceView*, const std::string& tensor_name);
  void draw_statistics(Workbench&, const SliceView&);
  void draw_cells(Workbench&, const SliceView&);
  void draw_images(Workbench&, const SliceView&, const TileView*, const SliceChoice&);
  void draw_scale(Workbench&, const SliceView*);
  TensorPlace place(const Workbench&) const;

  const char* const heading_;
  const char* const item_;
  const bool gradient_;
  // Answers that were shown last: held, so that no later one lies at their address and is taken for them.
  std::shared_ptr<const SliceView> slice_;
  std::shared_ptr<const TileView> tiles_;
  uint64_t revision_ = 0;  // grows with every answer
  Heatmap map_;
  ImageGrid images_;
  ColorScale scale_;
  char path_[512] = "";
};

ValueColors value_colors();

}  // namespace lunagrad
