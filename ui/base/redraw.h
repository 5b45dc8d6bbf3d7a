#pragma once
// Frames that are needed although no event arrives: an animation, or a part that checks something
// periodically, requests one when it is drawn. Nothing else makes an idle window draw. Drawing thread only.
namespace lunagrad {

constexpr double kAnimation = 1.0 / 30;  // seconds between the frames of an animation

// Requests a frame within `seconds` from now. The earliest request holds until a frame begins.
void draw_again_in(double seconds);
// Seconds until the requested frame: negative if it is late, infinite if none was requested.
double demanded_draw();
void begin_demands();  // a frame begins: forgets the requests of the last one

}  // namespace lunagrad
