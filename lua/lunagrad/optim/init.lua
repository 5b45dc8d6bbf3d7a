-- lg.optim: optimizers and what goes with them. One file for each family; this one lists them.
local adam = require "lunagrad.optim.adam"

return {
  Optimizer = require "lunagrad.optim.optimizer",
  SGD = require "lunagrad.optim.sgd",
  Adam = adam.Adam,
  AdamW = adam.AdamW,
  GradScaler = require "lunagrad.optim.grad_scaler",
  NAdam = require "lunagrad.optim.nadam",
  RAdam = require "lunagrad.optim.radam",
  Adamax = require "lunagrad.optim.adamax",
  RMSprop = require "lunagrad.optim.rmsprop",
  Adagrad = require "lunagrad.optim.adagrad",
  Adadelta = require "lunagrad.optim.adadelta",
  Lion = require "lunagrad.optim.lion",
  LBFGS = require "lunagrad.optim.lbfgs",
  EMA = require "lunagrad.optim.ema",
  lr_scheduler = require "lunagrad.optim.lr_scheduler",
}
