-- User kernels on the default device: with --device vulkan the shaders run, on the CPU the functions.
local lg = require "lunagrad"
local expect = require "expect"

local raises = expect.call_raises
local on_cpu = lg.zeros(1):device() == "cpu"

local swish_grad = lg.kernel {
  name = "swish_grad",
  inputs = {"g", "x"},
  params = {"beta"},
  glsl = [[
    void main() {
      each(i, y_count()) {
        float s = 1.0 / (1.0 + exp(-beta * x(i)));
        y(i) = g(i) * (s + beta * x(i) * s * (1.0 - s));
      }
    }
  ]],
  cpu = function(g, x, beta)
    local s = (x * beta):sigmoid()
    return g * (s + x * beta * s * (1 - s))
  end,
}
local swish = lg.kernel {
  name = "swish",
  inputs = {"x"},
  params = {"beta"},
  glsl = [[
    void main() {
      each(i, y_count()) y(i) = x(i) / (1.0 + exp(-beta * x(i)));
    }
  ]],
  cpu = function(x, beta) return x * (x * beta):sigmoid() end,
  backward = function(ctx, g)
    local x = ctx:saved()
    return swish_grad(g:contiguous(), x, 1.5), nil
  end,
}

-- Values for any size and strides; the node of the tape; the gradient against finite differences.
for _, shape in ipairs {{1}, {1000}, {257, 33}, {0, 3}} do
  local x = lg.randn(shape)
  expect.close(swish(x, 1.5):flatten(), (x * (x * 1.5):sigmoid()):flatten(), 1e-5)
end
local x = lg.randn(6, 4):t():requires_grad_()
local y = swish(x, 1.5)
assert(y.grad_fn == "swish" and lg.tape(y)[1].op == "swish")
expect.close(y, (x * (x * 1.5):sigmoid()), 1e-5)
local weight, step = lg.randn(4, 6), 1e-2
(y * weight):sum():backward()
local at = x:detach()
expect.close(x.grad, (swish(at + step, 1.5) - swish(at - step, 1.5)) / (2 * step) * weight, 2e-3)

-- Work groups with shared memory; sizes of operands; several outputs of different dtypes.
local row_extremes = lg.kernel {
  name = "row_extremes",
  inputs = {"x"},
  outputs = {"largest", "place"},
  dtype = {"f32", "i64"},
  threads = 64,
  shape = function(t) return {t:size(1)}, {t:size(1)} end,
  groups = function(t) return t:size(1) end,
  glsl = [[
    shared float best[64];
    shared uint at[64];
    void main() {
      const uint me = gl_LocalInvocationID.x, row = gl_WorkGroupID.x, width = x_size(1);
      best[me] = -1.0 / 0.0;
      at[me] = 0;
      for (uint j = me; j < width; j += 64)
        if (x(row * width + j) > best[me]) { best[me] = x(row * width + j); at[me] = j; }
      for (uint half_way = 32; half_way > 0; half_way /= 2) {
        barrier();
        if (me < half_way && best[me + half_way] > best[me]) {
          best[me] = best[me + half_way];
          at[me] = at[me + half_way];
        }
      }
      if (me == 0) { largest(row) = best[0]; place(row) = int64_t(at[0]); }
    }
  ]],
  cpu = function(t) return t:max(2) end,
}
local rows = lg.randn(19, 300)
local largest, place = row_extremes(rows)
local wanted, wanted_place = rows:max(2)
expect.equal(largest, wanted)
expect.equal(place, wanted_place)

-- The same source is compiled for each dtype.
local doubled = lg.kernel {
  name = "doubled",
  inputs = {"x"},
  glsl = "void main() { each(i, y_count()) y(i) = x(i) + x(i); }",
  cpu = function(t) return t + t end,
}
expect.equal(doubled(lg.tensor {1, -2, 3}), lg.tensor {2, -4, 6})
expect.equal(doubled(lg.tensor({1, -2}, {dtype = "i32"})), lg.tensor({2, -4}, {dtype = "i32"}))
expect.equal(doubled(lg.tensor({0.5, -2}, {dtype = "f32"})), lg.tensor({1, -4}, {dtype = "f32"}))
expect.equal(lg.view_as_real(doubled(lg.complex(lg.tensor {1., 2.}, lg.tensor {3., 4.}))):tolist(), {{2., 6.}, {4., 8.}})
local widened = lg.kernel {
  name = "widened",
  inputs = {"x"},
  dtype = "f32",
  glsl = "void main() { each(i, y_count()) y(i) = float(x(i)); }",
  cpu = function(t) return t:float() end,
}
for _, dtype in ipairs {"f16", "u8", "bool", "i64"} do
  expect.equal(widened(lg.tensor({1, 0, 1}, {dtype = dtype})), lg.tensor({1, 0, 1}, {dtype = "f32"}))
end
local halved = lg.kernel {
  name = "halved",
  inputs = {"x"},
  glsl = "void main() { each(i, y_count()) y(i) = float16_t(0.5 * x(i)); }",
  cpu = function(t) return t * 0.5 end,
}
expect.equal(halved(lg.tensor({1, -3}, {dtype = "f16"})), lg.tensor({0.5, -1.5}, {dtype = "f16"}))

-- Errors in calls.
raises("swish: 1 tensors and 1 numbers expected (got 1 arguments)", swish, lg.zeros(2))
raises("bad argument #1 to 'swish' (Tensor expected, got number)", swish, 1, 2)
raises("bad argument #2 to 'swish' (number expected, got Tensor)", swish, lg.zeros(2), lg.zeros(2))
raises("it has no 'backward' function", function() doubled(lg.zeros(2, {requires_grad = true})):sum():backward() end)
local shapeless = lg.kernel {
  name = "shapeless", inputs = {"x"}, glsl = "void main() {}", shape = function() end, cpu = function(t) return t end,
}
raises("shapeless: 'shape' gives no sizes for y", shapeless, lg.zeros(2))

-- Errors in definitions.
raises("kernel: 'glsl' is missing", lg.kernel, {name = "f", inputs = {"x"}})
raises("kernel: f needs an input", lg.kernel, {name = "f", glsl = "", inputs = {}})
raises("kernel: unknown option 'vjp'", lg.kernel, {name = "f", glsl = "", inputs = {"x"}, vjp = print})
raises("kernel: 'cpu' must be a function (got number)", lg.kernel, {name = "f", glsl = "", inputs = {"x"}, cpu = 1})
raises("kernel: f: a b cannot be the name of an operand", lg.kernel, {name = "f", glsl = "", inputs = {"a b"}})
raises("kernel: f: two operands are called y", lg.kernel, {name = "f", glsl = "", inputs = {"y"}})
raises("kernel: f has 5 outputs", lg.kernel, {name = "f", glsl = "", inputs = {"x"}, outputs = {"a", "b", "c", "d", "e"}})

if on_cpu then
  local bare = lg.kernel {name = "bare", inputs = {"x"}, glsl = "void main() {}"}
  raises("bare: its operands are on the CPU and it has no 'cpu' function", bare, lg.zeros(2))
  local wide = lg.kernel {
    name = "wide", inputs = {"x"}, glsl = "", cpu = function(t) return lg.cat({t, t}) end,
  }
  raises("wide: 'cpu' returned f32 [4] for y, which is to be f32 [2]", wide, lg.zeros(2))
  return
end

-- A source that does not compile is an error with its line.
local function text(glsl, more)
  local spec = {name = "faulty", inputs = {"x"}, glsl = glsl}
  for option, value in pairs(more or {}) do spec[option] = value end
  return lg.kernel(spec)
end
raises("faulty: line 3 of its GLSL: 'foo' : no matching overloaded function found\n  each(i, y_count()) y(i) = foo(x(i));",
  text "void main() {\n  float a = 1.0;\n  each(i, y_count()) y(i) = foo(x(i));\n}", lg.zeros(2))
raises("faulty: line 1 of its GLSL: 'assign'", text "void main() { x(0) = 1.0; }", lg.zeros(2))
raises("faulty: its GLSL does not compile", text "void helper() {}", lg.zeros(2))
raises("faulty: x is bf16, which kernels cannot use", text "void main() {}", lg.zeros(2, {dtype = "bf16"}))
raises("faulty: [0] groups", text("void main() {}", {groups = function() return 0 end}), lg.zeros(2))
raises("alike: [0] groups", text("void main() {}", {name = "alike", groups = function() return 0 end}), lg.zeros(2))
raises("threads", text("void main() {}", {threads = {1024, 1024}}), lg.zeros(2))
raises("operands are on different devices", text("void main() {}", {inputs = {"x", "z"}}), lg.zeros(2), lg.zeros(2):to("cpu"))
assert(text "void main() { each(i, y_count()) y(i) = x(i); }"(lg.ones(3)):sum():item() == 3)  -- the device still works
