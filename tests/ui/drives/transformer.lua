-- The transformer example, small, on a text that always exists: for drives, which give a script no arguments.
local root = arg[0]:match "^(.*)/tests/ui/drives/[^/]*$"
arg[1] = root .. "/README.md"
dofile(root .. "/examples/07_transformer.lua")
