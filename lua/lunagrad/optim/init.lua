-- lg.optim: optimizers. One file for each family; this one lists them.
local adam = require "lunagrad.optim.adam"

return {
  Optimizer = require "lunagrad.optim.optimizer",
  SGD = require "lunagrad.optim.sgd",
  Adam = adam.Adam,
  AdamW = adam.AdamW,
  GradScaler = require "lunagrad.optim.grad_scaler",
}
