---@meta
-- lg.distributed for editors; the code is in lua/lunagrad/distributed.

---@class lunagrad
---@field distributed lunagrad.distributed

---Several processes (ranks) that run one script, started by `lunagrad run --ranks N`, mpirun or srun. Ranks count from
---0. Every rank calls the same collectives in the same order; if the calls differ, each rank reports the place of
---every rank, and all ranks end. Outside of a launcher there is one rank.
---@class lunagrad.distributed
local distributed = {}

---A running collective. Its tensors must not change before wait.
---@class lunagrad.distributed.Handle
local Handle = {}
---Blocks until the collective has ended, and returns its result.
---@return Tensor
function Handle:wait() end
---Whether it has ended.
---@return boolean
function Handle:is_done() end

---Opens the world of ranks; outside of a launcher a world of one. A rank that waits for others longer than `timeout`
---seconds ends all ranks, with a report. All ranks start with the same script and seed.
---Defaults: timeout = 30.
---@param options? {timeout?: number}
function distributed.init(options) end

---Whether init was called.
---@return boolean
function distributed.is_initialized() end
---The number of this process, from 0.
---@return integer
function distributed.rank() end
---The number of processes.
---@return integer
function distributed.size() end
---The number of this process among the processes of its machine, from 0.
---@return integer
function distributed.local_rank() end

---Replaces x on every rank by the reduction over all ranks: "sum", "mean", "product", "min" or "max". The bits are the
---same on every rank and every repeat; 16-bit floats are added in f32. Sum and mean have a gradient. With async it
---returns a handle.
---Defaults: op = "sum", async = false.
---@param x Tensor
---@param op? "sum"|"mean"|"product"|"min"|"max"
---@param async? boolean
---@param options? {op?: string, async?: boolean}
---@return Tensor|lunagrad.distributed.Handle
function distributed.all_reduce_(x, op, async, options) end

---Replaces x on every rank by the x of rank `root`.
---Defaults: root = 0, async = false.
---@param x Tensor
---@param root? integer
---@param async? boolean
---@param options? {root?: integer, async?: boolean}
---@return Tensor|lunagrad.distributed.Handle
function distributed.broadcast_(x, root, async, options) end

---The tensors of all ranks, concatenated along dim 1, in which they may differ.
---Defaults: async = false.
---@param x Tensor
---@param async? boolean
---@param options? {async?: boolean}
---@return Tensor|lunagrad.distributed.Handle
function distributed.all_gather(x, async, options) end

---This rank's part, along dim 1, of the reduction over all ranks. `sizes` lists the rows of each rank; without it the
---rows are divided evenly, and the first ranks have one more.
---Defaults: op = "sum", async = false.
---@param x Tensor
---@param op? "sum"|"mean"|"product"|"min"|"max"
---@param sizes? integer[]
---@param async? boolean
---@param options? {op?: string, sizes?: integer[], async?: boolean}
---@return Tensor|lunagrad.distributed.Handle
function distributed.reduce_scatter(x, op, sizes, async, options) end

---Cuts x along dim 1 into a part for each rank. Returns the parts that all ranks cut for this rank, concatenated.
---Defaults: async = false.
---@param x Tensor
---@param sizes? integer[]
---@param async? boolean
---@param options? {sizes?: integer[], async?: boolean}
---@return Tensor|lunagrad.distributed.Handle
function distributed.all_to_all(x, sizes, async, options) end

---Waits until every rank has called it.
function distributed.barrier() end

---Sends x to rank `to`, which calls receive. Returns when x may change: a large tensor waits for the receiver. Tensors
---from one rank arrive at another in the order in which they were sent, independently of collectives. No gradient is
---sent back. With async it returns a handle.
---Defaults: async = false.
---@param x Tensor any shape and dtype
---@param to integer another rank, from 0
---@param async? boolean
---@param options? {async?: boolean}
---@return lunagrad.distributed.Handle?
function distributed.send(x, to, async, options) end

---The next tensor that rank `from` sent to this one: a new tensor on the CPU, of its shape and dtype.
---Defaults: async = false.
---@param from integer another rank, from 0
---@param async? boolean
---@param options? {async?: boolean}
---@return Tensor|lunagrad.distributed.Handle
function distributed.receive(from, async, options) end

---Makes a model data parallel and returns it: parameters and buffers start with the values of rank 0, and backward
---returns when the gradients are averaged over the ranks, in buckets of `bucket` MiB that are sent during backward.
---model:no_sync(fn) runs fn without averaging, to accumulate gradients. With deterministic the batch is cut into
---`slots` parts, a power of two, and the bits of the parameters do not depend on the number of ranks; each rank then
---computes with `threads` threads (default: 1).
---Defaults: bucket = 25, deterministic = false, slots = 8.
---@param model lunagrad.nn.Module
---@param bucket? number MiB
---@param deterministic? boolean
---@param slots? integer
---@param threads? integer
---@param options? {bucket?: number, deterministic?: boolean, slots?: integer, threads?: integer}
---@return lunagrad.nn.Module
function distributed.data_parallel(model, bucket, deterministic, slots, threads, options) end

---Cuts parameters, gradients and the state of the optimizer along dim 1, so that each rank keeps its rows, and returns
---the model, whose fields are the shards. `groups` are modules of the model, or a container of modules. The parameters
---of a group are gathered before its forward and before its backward, while the group before it computes; all other
---parameters form the root group. Gradients are averaged over the ranks. All ranks must call the model, its state_dict
---(whole tensors) and the state_dict of its optimizer. With deterministic the batch is cut into `slots` parts, as in
---data_parallel.
---Defaults: deterministic = false, slots = 8.
---@param model lunagrad.nn.Module
---@param groups? lunagrad.nn.Module[]|lunagrad.nn.Module
---@param deterministic? boolean
---@param slots? integer
---@param threads? integer
---@param options? {groups?: lunagrad.nn.Module[]|lunagrad.nn.Module, deterministic?: boolean, slots?: integer, threads?: integer}
---@return lunagrad.nn.Module
function distributed.fully_shard(model, groups, deterministic, slots, threads, options) end

---A model whose stages run on different ranks: stage i runs on rank i - 1, and a rank drops the other stages.
---pipe:backward(x, target) cuts the batch along dim 1 into `micro_batches` parts, runs the forward and backward of the
---parts alternately, and adds the gradients to pipe:parameters(), the stage's parameters. It returns the loss
---on every rank, without dims: the mean of the parts' losses. Rank 0 reads x, the last rank target. Under lg.no_grad()
---pipe(x) is the output of the last stage, on every rank. A stage takes one Tensor and returns one; loss(output,
---target) is a mean over samples. pipe.stage is this rank's module, pipe.peak_micro_batches the most parts whose
---activations it kept at the same time. All ranks must call these together.
---Defaults: micro_batches = 1, schedule = "1f1b".
---@param stages lunagrad.nn.Module[]|lunagrad.nn.Module as many as ranks
---@param micro_batches? integer
---@param loss fun(output: Tensor, target: Tensor): Tensor
---@param schedule? "1f1b"
---@param options? {micro_batches?: integer, loss?: fun(output: Tensor, target: Tensor): Tensor, schedule?: string}
---@return lunagrad.nn.Module
function distributed.pipeline(stages, micro_batches, loss, schedule, options) end

---Batch normalization of [N, C, …] with the statistics of all ranks' samples; ranks may have different numbers of
---samples. Each rank has the gradients of its own samples. SyncBatchNorm.convert(model) makes every batch norm of a
---model a SyncBatchNorm, with the same tensors.
---Defaults: eps = 1e-5, momentum = 0.1, affine = true, track_running_stats = true.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function distributed.SyncBatchNorm(num_features, options) end

---nn.Linear as a fully sharded model: each rank has its rows of the weight, which is gathered for forward and backward.
---Defaults: bias = true, activation = "none".
---@param in_features integer
---@param out_features integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType, activation?: "none"|"relu"|"tanh"|"sigmoid"}
---@return lunagrad.nn.Module
function distributed.ShardedLinear(in_features, out_features, options) end

---y = x W^T + b; each rank computes its part of the last dim of y, from the same x. With gather_output every rank gets
---the whole y. All ranks compute the same loss; gradients are as in one process.
---Defaults: bias = true, gather_output = true.
---@param in_features integer
---@param out_features integer
---@param options? {bias?: boolean, gather_output?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function distributed.ColumnParallelLinear(in_features, out_features, options) end

---y = x W^T + b, the sum of the ranks' parts: each rank has its columns of W, and takes its part of the last dim of x.
---With input_is_parallel x is this part, as ColumnParallelLinear without gather_output returns it. All ranks compute
---the same loss.
---Defaults: bias = true, input_is_parallel = false.
---@param in_features integer
---@param out_features integer
---@param options? {bias?: boolean, input_is_parallel?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function distributed.RowParallelLinear(in_features, out_features, options) end
