-- The example of the transformer, small, on a text that is always there: for drives, which give a script no arguments.
local root = arg[0]:match "^(.*)/tests/ui/drives/[^/]*$"
arg[1] = root .. "/README.md"
dofile(root .. "/examples/07_transformer.lua")
