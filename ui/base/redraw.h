#pragma once
// Frames that are needed although nothing arrives: what moves by itself, or looks again after a while, asks
// for one when it is drawn. Nothing else makes an idle window draw. Drawing thread only.
namespace lunagrad {

constexpr double kAnimation = 1.0 / 30;  // seconds between the frames of what moves by itself

// Asks for a frame within `seconds` from now. The earliest demand holds until a frame begins.
void draw_again_in(double seconds);
// Seconds until the frame that was asked for: negative if it is late, infinite if there is no demand.
double demanded_draw();
void begin_demands();  // a frame begins: forgets the demands of the last one

}  // namespace lunagrad
