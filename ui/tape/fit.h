#pragma once
// Makes a tape's picture fit its room at a legible size: first long rows are wrapped, then modules are
// collapsed, then long modules are shown as a few parts. What the user has opened or closed stays. Pure; any
// thread; deterministic.
#include <memory>
#include <stop_token>

#include "ui/tape/picture.h"
#include "ui/tape/tree.h"

namespace lunagrad {

// The zoom at which a picture has this room, relative to the smallest legible one: from 1 on, it fits.
float scale_in(PictureRoom, const TapePicture&);

// The picture with its rows wrapped as is best for the room. Very large pictures, and pictures without a
// room, are not wrapped.
TapePicture wrapped_picture(const TapeSnapshot&, const TapeTree&, const std::vector<char>& open,
                            const CollapseState&, const TextMeasure&, std::stop_token);

struct FittedTape {
  std::shared_ptr<const TapeTree> tree;  // with parts, if there are any
  std::vector<char> open;
  TapePicture picture;
};

// The picture that shows as much of the tape as fits, in automatic mode and with a room. All modules beside
// each other are open, or none. If nothing fits, as few boxes as possible.
FittedTape fitted_tape(const TapeSnapshot&, const std::shared_ptr<const TapeTree>& whole,
                       const CollapseState&, const TextMeasure&, std::stop_token);

// How many boxes of the picture are collapsed only because the room is small. `whole`: the tree without
// parts.
uint32_t collapsed_to_fit(const TapeTree& whole, const TapeTree&, const CollapseState&, const TapePicture&);

}  // namespace lunagrad
