#pragma once
// One tensor of the selected node, its value or its gradient: as cells, pictures or a histogram, with
// statistics, a colour scale, copy and export to a file. Value and gradient show the same slice. Drawing
// thread only.
#include <memory>
#include <string>
#include <vector>

#include "ui/panels/change_menu.h"
#include "ui/widgets/heatmap.h"
#include "ui/widgets/image_grid.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

struct SliceChoice {
  enum class Mode { cells, images, histogram } mode = Mode::cells;
  int row_dim = -1, column_dim = -1;  // -1: the last two dimensions
  int channel_dim = -1;               // channels of pictures
  std::vector<int> at;                // position in each dimension, from 1
  ComplexPart part = ComplexPart::magnitude;
  bool normalize_each = true;
  int first_tile = 1;
  std::vector<int64_t> shape;  // the tensor's shape that these members belong to

  // Resets the choice for a tensor of another shape.
  void fit(const std::vector<int64_t>& its_shape);
};

// The row of controls: how to show the tensor, which dimensions are rows and columns, positions in the
// others.
void draw_slice_controls(Workbench&, SliceChoice&, const std::string& dtype, int64_t tiles);

class TensorPane {
 public:
  TensorPane(const char* heading, const char* item, bool gradient)
      : heading_(heading), item_(item), gradient_(gradient) {}
  // The part of the tensor that the probe should fetch.
  ValueProbe::Look look(const SliceChoice&) const;
  // `parameter`: the name of the running model's parameter that is shown, whose elements can then be edited;
  // "" for none.
  void draw(Workbench&, const SliceChoice&, const std::string& tensor_name,
            const std::string& parameter = {});
  void reset() { map_.reset(); }
  void follow(const TensorPane& other);  // shows the same part of the slice and the same element
  float least_height() const;  // the height that leaves space for a picture below the last draw()'s texts

 private:
  void draw_waiting(Workbench&) const;
  void draw_heading(Workbench&, const SliceChoice&, const SliceView*, const std::string& tensor_name);
  void draw_statistics(Workbench&, const SliceView&);
  void draw_cells(Workbench&, const SliceView&);
  void draw_remedy(Workbench&, const std::string& reason);
  void draw_images(Workbench&, const SliceView&, const TileView*, const SliceChoice&);
  void draw_scale(Workbench&, const SliceView*);
  TensorPlace place(const Workbench&) const;

  const char* const heading_;
  const char* const item_;
  const bool gradient_;
  // The latest answers. They are held so that a later answer cannot have the same address and be taken for
  // them.
  std::shared_ptr<const SliceView> slice_;
  std::shared_ptr<const TileView> tiles_;
  uint64_t revision_ = 0;  // grows with every answer
  Heatmap map_;
  ImageGrid images_;
  ColorScale scale_;
  float texts_ = 0;  // height of the texts
  std::string parameter_;
  ChangeMenu changes_{"Inspector"};
  char path_[512] = "";
};

ValueColors value_colors();

}  // namespace lunagrad
