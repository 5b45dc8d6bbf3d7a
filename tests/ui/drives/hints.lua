-- Twelve causes of a NaN or Inf (hints_script.lua): the run pauses at each with its node selected, and the hint states the
-- cause, the place and the values of the operands. arg[1]: a folder for pictures.
local causes = {
  {"log", 6, "the logarithm of 0 is -Inf", "1 -Inf among 2 elements, the first at [2]"},
  {"log", 7, "the logarithm of a negative number", "1 NaN among 2 elements, the first at [1]"},
  {"div", 8, "0 / 0 is NaN", "1 NaN among 2 elements"},
  {"div", 9, "a number divided by 0 is Inf", "1 Inf among 2 elements"},
  {"sqrt", 10, "the root of a negative number", "the first at [2]"},
  {"exp", 11, "the exponential overflows", "1 Inf among 2 elements"},
  {"softmax", 12, "a row is masked completely", "2 NaN among 4 elements, the first at [1, 1]"},
  {"pow", 13, "a negative number to a fractional power", "the first at [1]"},
  {"sub", 14, "Inf - Inf is NaN", "its result of shape [1]: NaN"},
  {"mul", 15, "0 * Inf is NaN", "its result of shape [1]: NaN"},
  {"square", 16, "f16 ends at 65504", "the first at [1]"},
  {"sqrt", 17, "the derivative of the root at 0 is infinite", "backward of sqrt"},
}
ui.wait("state", "finished")
ui.click("panel", "Breakpoints")
ui.click("breakpoints.add")
ui.wait("breakpoints.item", "NaN or Inf")
for step, cause in ipairs(causes) do
  local op, line, hint, found = table.unpack(cause)
  ui.key("F5")
  ui.wait("breakpoints.paused", ("hints_script.lua:%d step %d"):format(line, step))
  ui.expect("breakpoints.explanation", hint)
  ui.expect("breakpoints.explanation", found)
  ui.expect("breakpoints.explanation", ": f")  -- an operand: its type, range and mean
  ui.wait("inspector.op", op)
  ui.wait("inspector.place", "hints_script.lua:" .. line)
  if step == 7 then ui.picture(arg[1] .. "/hint.png") end
end
ui.theme("light")
ui.frames(2)
ui.picture(arg[1] .. "/hint-light.png")
-- A pause for another reason shows no breakpoint.
ui.key("F5")
ui.wait("state", "finished")
ui.absent("breakpoints.paused")
ui.expect("breakpoints.hits", "NaN or Inf: 12 hits")
