-- Fast input through the display's own mouse and keyboard: presses of 1 ms, a click where the mouse has just arrived,
-- and a modifier whose release the display keeps to itself, as after a cancelled Alt+F4.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

ui.wait("curves.curve", "loss")
real.begin()

-- One process sends everything, without a pause between the events.
real.xdotool(real.aim("console.input") .. "click 1")
ui.seconds(0.3)
real.xdotool("type --delay 1 '1234567890'")
ui.wait("console.input", "1234567890")
real.xdotool("key --delay 1 BackSpace BackSpace BackSpace BackSpace BackSpace")
local until_then = os.time() + 60
while ui.texts("console.input")[1] ~= "12345" do
  assert(os.time() < until_then, "after five taps of Backspace: " .. tostring(ui.texts("console.input")[1]))
  ui.frames(1)
end
real.xdotool("key --delay 1 asterisk 2 Return")
ui.wait("console.line", "24690")

-- Ten clicks on a button that counts, and keys that count lines.
real.xdotool("key Escape")
real.xdotool(real.aim("panel", "Editor") .. "click 1")
ui.wait("editor.line", "3: local nn")
ui.frames(5)  -- until the panel has its final places
real.xdotool(real.aim("editor.line", "1: --") .. "click 1")
ui.wait("editor.caret", "1:")
real.xdotool("key --delay 1 Down Down Down Down Down Down Down Down Down Down")
ui.wait("editor.caret", "11:")
real.xdotool("key --delay 1 ctrl+f")
ui.wait("editor.find", nil)
real.xdotool("type --delay 1 'local'")
ui.wait("editor.found", "found")
real.xdotool("key --delay 1 Return")
ui.wait("editor.found", "of")
local first = tonumber(ui.texts("editor.found")[1]:match("%d+"))
local count = tonumber(ui.texts("editor.found")[1]:match("of (%d+)"))
assert(count > 12, "too few matches to count clicks with: " .. count)
real.xdotool(real.aim("editor.find.next") .. "click --repeat 10 --delay 1 1")
ui.wait("editor.found", ("%d of"):format((first - 1 + 10) % count + 1))
real.xdotool("key Escape")

-- The release of Alt goes to another client, which grabs the keyboard for a while.
local grab = [[python3 -c '
import ctypes, subprocess
x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XDefaultRootWindow.restype = ctypes.c_ulong
d = ctypes.c_void_p(x.XOpenDisplay(None))
root = ctypes.c_ulong(x.XDefaultRootWindow(d))
assert x.XGrabKeyboard(d, root, 0, 1, 1, ctypes.c_ulong(0)) == 0
x.XSync(d, 0)
subprocess.run(["xdotool", "keyup", "alt"])
x.XUngrabKeyboard(d, ctypes.c_ulong(0))
x.XSync(d, 0)
']]
real.xdotool("key --delay 1 ctrl+F5")
ui.wait("state", "running", 10)
real.xdotool("keydown alt")
ui.seconds(0.2)
assert(os.execute(grab))
ui.seconds(0.2)
real.xdotool("key --delay 1 F6")
ui.wait("state", "paused")
real.xdotool("key --delay 1 F5")
ui.wait("state", "running")
