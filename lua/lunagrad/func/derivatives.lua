-- grad, grad_and_value, vjp, jvp, linearize, jacrev, jacfwd, hessian.
--
-- A transform gives its function fresh copies of the arguments: leaves, or aliases of arguments that an outer transform
-- differentiates. Inside vmap they are batched, so that each sample has a derivative of its own. The results stay on the
-- tape when something outside can differentiate them.
--
-- Forward mode is two reverse passes: u^T J is linear in u, and its derivative along v is J v. It is exact for every op whose
-- gradient has a gradient, and costs about two backward passes.
local arguments = require "lunagrad.arguments"
local core = require "lunagrad.core"
local tree = require "lunagrad.func.tree"
local vmap = require "lunagrad.func.vmap"

local fail, is_tensor = core._fail, core.is_tensor

local derivatives = {}

local function check_function(owner, fn)
  if type(fn) ~= "function" and not (getmetatable(fn) and getmetatable(fn).__call) then
    fail(("%s: a function expected (got a %s)"):format(owner, type(fn)))
  end
end

local function shape_text(x) return "[" .. table.concat(x:size(), ", ") .. "]" end

local floating = {f32 = true, f64 = true, f16 = true, bf16 = true, c64 = true, c128 = true}

-- The copy of x by which the function is differentiated.
local function fresh(owner, x, name)
  if not floating[x:dtype()] then
    fail(("%s: %s is %s; only floating and complex tensors have derivatives"):format(owner, name, x:dtype()))
  end
  x = core._spread(x)
  if x.requires_grad then return x:view(x:size()) end
  return x:detach():requires_grad_()
end

-- The arguments with fresh copies of the arguments at `positions`. Returns all arguments, the copies as a list, and a
-- function that turns a list of values for the copies into one tree for each position.
local function prepare(owner, args, positions)
  local copied, copies, rebuild = {n = args.n}, {}, {}
  for i = 1, args.n do copied[i] = args[i] end
  for k, i in ipairs(positions) do
    if i > args.n then fail(("%s: argnums names argument %d of %d"):format(owner, i, args.n)) end
    local list, form = tree.flatten(owner, args[i], "argument " .. i)
    local first = #copies
    local own = {}
    for j, x in ipairs(list) do
      own[j] = fresh(owner, x, "argument " .. i)
      copies[first + j] = own[j]
    end
    copied[i] = form(own)
    rebuild[k] = function(values) return form(table.move(values, first + 1, first + #list, 1, {})) end
  end
  return copied, copies, function(values)
    local trees = {}
    for k, build in ipairs(rebuild) do trees[k] = build(values) end
    return trees
  end
end

local function positions_of(owner, argnums)
  local list = type(argnums) == "table" and argnums or {argnums}
  for _, i in ipairs(list) do
    if math.type(i) ~= "integer" or i < 1 then
      fail(("%s: argnums are positions of arguments and count from 1 (got %s)"):format(owner, tostring(i)))
    end
  end
  if #list == 0 then fail(owner .. ": argnums names no argument") end
  return list, type(argnums) ~= "table"
end

local function filled(values, like)
  for i, x in ipairs(like) do
    if not values[i] then values[i] = core.zeros_like(x:detach()) end
  end
  return values
end

-- Gradients of the outputs that require one; zeros for inputs that no output depends on.
local function gradients(outputs, inputs, seeds, create_graph)
  local used, used_seeds = {}, {}
  for i, y in ipairs(outputs) do
    if y.requires_grad then
      used[#used + 1] = y
      if seeds then used_seeds[#used] = seeds[i] end
    end
  end
  if #used == 0 then return filled({}, inputs) end
  return filled(core.grad(used, inputs, {grad_outputs = seeds and used_seeds or nil, create_graph = create_graph,
    retain_graph = true, allow_unused = true}), inputs)
end

-- Whether results computed from `outputs` must stay on the tape: they depend on other tensors that may be
-- differentiated.
local function stays(enabled, outputs, inputs)
  return enabled and core._reaches_others(outputs, inputs)
end

local function released(value, keep)
  if keep then return value end
  return tree.map(value, function(leaf) return is_tensor(leaf) and leaf:detach() or leaf end)
end

-- The first result of the function is a tree; with has_aux the second is passed on.
local function call(owner, fn, args, has_aux)
  local results = table.pack(fn(table.unpack(args, 1, args.n)))
  local value, aux
  if has_aux then
    if results.n ~= 2 then
      fail(("%s: with has_aux the function returns two values, the output and the rest (got %d)"):format(owner, results.n))
    end
    value, aux = results[1], results[2]
  elseif results.n > 1 then
    results.n = nil
    value = results
  else
    value = results[1]
  end
  local list, form = tree.flatten(owner, value, "what the function returns")
  return list, form, aux
end

-- --- grad, grad_and_value ---

local function make_gradient(owner, read, finish)
  return function(...)
    local a = read(...)
    check_function(owner, a.func)
    local positions, single = positions_of(owner, a.argnums)
    return function(...)
      local enabled = core.is_grad_enabled()
      local _ <close> = core.enable_grad()
      local args, copies, rebuild = prepare(owner, table.pack(...), positions)
      local outputs, _, aux = call(owner, a.func, args, a.has_aux)
      local y = outputs[1]
      if #outputs ~= 1 or y:numel() ~= 1 then
        fail(("%s: the function must return one element (got %s)"):format(owner,
          #outputs == 1 and "shape " .. shape_text(y) or #outputs .. " tensors"))
      end
      local keep = stays(enabled, outputs, copies)
      local found = rebuild(gradients(outputs, copies, nil, keep))
      return finish(single and found[1] or found, released(y, keep), released(aux, keep), a.has_aux)
    end
  end
end

local function gradient_reader(owner)
  return arguments.reader(owner, "func", {"argnums", 1}, {"has_aux", false})
end

derivatives.grad = make_gradient("grad", gradient_reader("grad"), function(found, _, aux, has_aux)
  if has_aux then return found, aux end
  return found
end)

derivatives.grad_and_value = make_gradient("grad_and_value", gradient_reader("grad_and_value"),
  function(found, value, aux, has_aux)
    if has_aux then return found, value, aux end
    return found, value
  end)

-- --- vjp, jvp, linearize ---

local function every(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- The tensors of a tree of vectors with the form of `like`.
local function vectors(owner, value, like, what)
  local list = tree.flatten(owner, value, "the " .. what)
  if #list ~= #like then fail(("%s: %d tensors in the %s where %d are needed"):format(owner, #list, what, #like)) end
  for i, v in ipairs(list) do
    if shape_text(v) ~= shape_text(like[i]) then
      fail(("%s: the %s has shape %s where %s is needed"):format(owner, what, shape_text(v), shape_text(like[i])))
    end
  end
  return list
end

-- A last argument {has_aux = true} is an option.
local function take_options(args)
  local last = args[args.n]
  if tree.is_branch(last) and type(last.has_aux) == "boolean" and next(last, next(last)) == nil then
    args[args.n] = nil
    args.n = args.n - 1
    return last.has_aux
  end
  return false
end

local function any_requires_grad(list)
  for _, x in ipairs(list) do
    if x.requires_grad then return true end
  end
  return false
end

-- vjp(fn, primals..., {has_aux =}) -> output, vjp_fn[, aux]; vjp_fn(cotangent) returns one gradient for each primal.
function derivatives.vjp(fn, ...)
  check_function("vjp", fn)
  local args = table.pack(...)
  local has_aux = take_options(args)
  if args.n == 0 then fail("vjp: no primals given") end
  local enabled = core.is_grad_enabled()
  local _ <close> = core.enable_grad()
  local copied, copies, rebuild = prepare("vjp", args, every(args.n))
  local outputs, form, aux = call("vjp", fn, copied, has_aux)
  local keep = stays(enabled, outputs, copies)
  local function pull_back(...)
    local given = table.pack(...)
    given.n = nil
    local seeds = vectors("vjp", #given == 1 and given[1] or given, outputs, "cotangent")
    local graph = core.is_grad_enabled() and (keep or any_requires_grad(seeds))
    local _ <close> = core.enable_grad()
    return table.unpack(rebuild(gradients(outputs, copies, seeds, graph)))
  end
  local list = {}
  for i, y in ipairs(outputs) do list[i] = released(y, keep) end
  if has_aux then return form(list), pull_back, released(aux, keep) end
  return form(list), pull_back
end

-- J v for the outputs of fn: u^T J as a function of u, which is differentiated along v.
local function pushed(owner, fn, args, positions, has_aux)
  local copied, copies, rebuild = prepare(owner, args, positions)
  local outputs, form, aux = call(owner, fn, copied, has_aux)
  local seeds = {}
  for i, y in ipairs(outputs) do seeds[i] = core._spread(core.zeros_like(y:detach())):detach():requires_grad_() end
  local linear = gradients(outputs, copies, seeds, true)
  local inner = table.move(seeds, 1, #seeds, #copies + 1, table.move(copies, 1, #copies, 1, {}))
  return {copies = copies, rebuild = rebuild, outputs = outputs, form = form, aux = aux, seeds = seeds, linear = linear,
    inner = inner}
end

-- jvp(fn, primals, tangents, {has_aux =}) -> output, tangent[, aux]
function derivatives.jvp(fn, primals, tangents, options)
  check_function("jvp", fn)
  local function listed(value, what)
    if is_tensor(value) then return {value} end
    if not tree.is_branch(value) or #value == 0 then fail(("jvp: %s are a list, one for each argument"):format(what)) end
    return value
  end
  primals, tangents = listed(primals, "primals"), listed(tangents, "tangents")
  if #primals ~= #tangents then fail(("jvp: %d primals and %d tangents"):format(#primals, #tangents)) end
  local has_aux = options and options.has_aux or false
  local enabled = core.is_grad_enabled()
  local _ <close> = core.enable_grad()
  local args = table.move(primals, 1, #primals, 1, {n = #primals})
  local p = pushed("jvp", fn, args, every(#primals), has_aux)
  local along = vectors("jvp", tangents, p.copies, "tangent")
  local keep = stays(enabled, p.outputs, p.inner) or (enabled and any_requires_grad(along))
  local product = gradients(p.linear, p.seeds, along, keep)
  local list = {}
  for i, y in ipairs(p.outputs) do list[i] = released(y, keep) end
  if has_aux then return p.form(list), p.form(product), released(p.aux, keep) end
  return p.form(list), p.form(product)
end

-- linearize(fn, primals...) -> output, jvp_fn; jvp_fn(tangents...) is J times the tangents.
function derivatives.linearize(fn, ...)
  check_function("linearize", fn)
  local args = table.pack(...)
  if args.n == 0 then fail("linearize: no primals given") end
  local enabled = core.is_grad_enabled()
  local _ <close> = core.enable_grad()
  local p = pushed("linearize", fn, args, every(args.n), false)
  local keep = stays(enabled, p.outputs, p.inner)
  local function push(...)
    local given = table.pack(...)
    given.n = nil
    local along = vectors("linearize", given, p.copies, "tangent")
    local graph = core.is_grad_enabled() and (keep or any_requires_grad(along))
    local _ <close> = core.enable_grad()
    return p.form(gradients(p.linear, p.seeds, along, graph))
  end
  local list = {}
  for i, y in ipairs(p.outputs) do list[i] = released(y, keep) end
  return p.form(list), push
end

-- --- jacrev, jacfwd, hessian ---

local function concat(a, b)
  return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

-- The unit vectors of x's shape, [numel, shape...].
local function units(x)
  local n = x:numel()
  return core.eye(n, {dtype = x:dtype(), device = x:device()}):reshape(concat({n}, x:size()))
end

-- rows(v) for all unit vectors v of x: a list of tensors [numel, ...].
local function for_units(x, rows, chunk_size)
  if x:numel() == 1 then
    local list = {}
    for i, row in ipairs(rows(core.ones_like(x:detach()))) do list[i] = row:unsqueeze(1) end
    return list
  end
  return vmap(rows, {chunk_size = chunk_size})(units(x))
end

local function make_jacobian(owner, compute)
  local read = arguments.reader(owner, "func", {"argnums", 1}, {"has_aux", false}, {"chunk_size"})
  return function(...)
    local a = read(...)
    check_function(owner, a.func)
    local positions, single = positions_of(owner, a.argnums)
    return function(...)
      local enabled = core.is_grad_enabled()
      local _ <close> = core.enable_grad()
      local form, rebuild, columns, aux = compute(a, table.pack(...), positions, enabled)
      local per_output = {}
      for i, list in ipairs(columns) do
        local trees = rebuild(list)
        per_output[i] = single and trees[1] or trees
      end
      if a.has_aux then return form(per_output), aux end
      return form(per_output)
    end
  end
end

-- jacrev(fn, argnums, {has_aux =, chunk_size =}): one backward pass for all elements of an output.
derivatives.jacrev = make_jacobian("jacrev", function(a, args, positions, enabled)
  local copied, copies, rebuild = prepare("jacrev", args, positions)
  local outputs, form, aux = call("jacrev", a.func, copied, a.has_aux)
  local keep = stays(enabled, outputs, copies)
  local result = {}
  for i, y in ipairs(outputs) do
    local rows = y:numel() > 0 and for_units(y, function(v) return gradients({y}, copies, {v}, keep) end, a.chunk_size)
    result[i] = {}
    for j, x in ipairs(copies) do
      local shape = concat(y:size(), x:size())
      result[i][j] = rows and rows[j]:reshape(shape) or core.zeros(shape, {dtype = x:dtype(), device = x:device()})
    end
  end
  return form, rebuild, result, released(aux, keep)
end)

-- jacfwd(fn, argnums, {has_aux =, chunk_size =}): forward mode for all elements of an argument.
derivatives.jacfwd = make_jacobian("jacfwd", function(a, args, positions, enabled)
  local p = pushed("jacfwd", a.func, args, positions, a.has_aux)
  local keep = stays(enabled, p.outputs, p.inner)
  local result = {}
  for i in ipairs(p.outputs) do result[i] = {} end
  for j, x in ipairs(p.copies) do
    local columns = x:numel() > 0
      and for_units(x, function(v) return gradients({p.linear[j]}, p.seeds, {v}, keep) end, a.chunk_size)
    for i, y in ipairs(p.outputs) do
      local shape = concat(y:size(), x:size())
      if not columns then
        result[i][j] = core.zeros(shape, {dtype = y:dtype(), device = y:device()})
      else
        result[i][j] = columns[i]:reshape({x:numel(), y:numel()}):t():reshape(shape)
      end
    end
  end
  return p.form, p.rebuild, result, released(p.aux, keep)
end)

local read_hessian = arguments.reader("hessian", "func", {"argnums", 1})

-- hessian(fn, argnums): the reverse derivative of the reverse derivative; forward mode is built from the same passes
-- here.
function derivatives.hessian(...)
  local a = read_hessian(...)
  check_function("hessian", a.func)
  return derivatives.jacrev(derivatives.jacrev(a.func, a.argnums), a.argnums)
end

return derivatives
