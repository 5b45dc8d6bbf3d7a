# The rooms: each folder of runtime/, gpu/, script/, ui/ and capi/ with one sentence, and the folders that it may include. A folder
# includes only folders that are listed above it, so there are no cycles. layers.cmake checks this list. The composition roots
# script/main.cpp and ui/main.cpp may include everything.
#   room(FOLDER "SENTENCE" FOLDERS THAT IT MAY INCLUDE...)      an edge that no include uses is a fault, too
#   upwards(HEADER "REASON.")     a header of a lower folder that declares functions which a higher folder defines
#
# An op calls run(), run() calls the tape, and the tape calls ops: so the objects of most folders of runtime/ need each other, and
# only these headers declare what goes upwards. tests/components checks the objects.

upwards(runtime/system/memory.h "Each operating system has its own functions, which runtime/system/posix/ defines.")
upwards(runtime/system/processor.h "As runtime/system/memory.h.")
upwards(runtime/system/threads.h "As runtime/system/memory.h.")
upwards(runtime/system/open_file.h "As runtime/system/memory.h.")
upwards(runtime/io/atomic_file.h "Each operating system replaces files in its own way.")
upwards(runtime/core/op.h "Every op calls run(), which needs the tape, deferred calls and vmap; find_op() needs all ops.")
upwards(runtime/core/primitives.h "The ops that the engine itself calls: gradients are summed, cast and compared.")
upwards(runtime/core/tensor.h "A tensor owns its node of the tape.")
upwards(runtime/core/storage.h "A storage that is read computes the deferred calls that write it.")
upwards(runtime/core/waiting.h "A wait of the thread pool computes the deferred calls of its thread.")
upwards(runtime/core/device.h "The list of devices makes the CPU's device, which runs all kernels.")
upwards(runtime/core/shared_device.h "A batched tensor has a device of its own, which mixes with others.")
upwards(runtime/cpu/row_kernel.h "A group of deferred calls runs the row kernels of ops.")
upwards(runtime/batching/batched.h "The tape and run() pass calls with batched operands to vmap.")
upwards(runtime/elementwise/elementwise.h "Kernels read the table of rows, which is made with the ops.")
upwards(runtime/ops.h "Ops call ops of other families by name.")
upwards(runtime/ops/families.h "Two functions that a family has for another one.")

room(runtime/system "What the engine asks of the operating system: files, memory, processor, threads, programs, libraries.")
room(runtime/core "Tensor, dtype, shape, storage, device, context, errors, op records and calls: what all others stand on."
     runtime/system)
room(runtime/elementwise "The table of elementwise ops (elementwise.def) and its types."
     runtime/core)
room(runtime "The one header that a C++ host includes: all ops by name."
     runtime/core runtime/elementwise)
room(runtime/cpu "Threads, loops, vector functions and scratch memory of the CPU kernels."
     runtime/core runtime/elementwise runtime/system)
room(runtime/batching "Batched tensors: tensors with hidden dims of vmap."
     runtime/core)
room(runtime/tape "Autograd: nodes, the backward pass, checkpoints, leaves, autocast."
     runtime/batching runtime/core runtime/cpu)
room(runtime/io "File formats, atomic writes, checksums, batches read ahead."
     runtime runtime/core runtime/cpu runtime/system runtime/tape)
room(runtime/system/posix "What runtime/system/ and runtime/io/atomic_file.h declare, for Linux."
     runtime/core runtime/io runtime/system)
room(runtime/ops/elementwise/cpu "Loops over the elements of strided tensors: rows, casts, copies."
     runtime/core runtime/cpu runtime/elementwise)
room(runtime/ops "What op families share: the declarations of their lists, checks, dense operands, work by rows."
     runtime runtime/core runtime/cpu runtime/ops/elementwise/cpu runtime/tape)
room(runtime/ops/shape "Ops that create, copy, view, join, pad and rearrange tensors."
     runtime runtime/batching runtime/core runtime/cpu runtime/ops runtime/ops/elementwise/cpu)
room(runtime/ops/elementwise "Ops that compute each element by itself: the rows, activations, casts, complex parts."
     runtime runtime/core runtime/cpu runtime/elementwise runtime/ops runtime/ops/elementwise/cpu runtime/ops/shape runtime/tape)
room(runtime/optimizer "The table of optimizers (optimizers.def) and its types."
     runtime/core)
room(runtime/statistics "Statistics, sketches and summaries of tensors for viewers."
     runtime runtime/core runtime/cpu runtime/ops runtime/ops/elementwise/cpu)
room(runtime/ops/reductions/cpu "Kernels of reductions."
     runtime/core runtime/cpu runtime/ops/elementwise/cpu)
room(runtime/ops/reductions "Reductions, scans, counts, quantiles."
     runtime/batching runtime/core runtime/cpu runtime/ops runtime/ops/elementwise/cpu runtime/ops/reductions/cpu)
room(runtime/ops/fft/cpu "Plans and passes of Fourier transforms."
     runtime/core runtime/cpu)
room(runtime/ops/fft "Fourier transforms and spectrograms."
     runtime/core runtime/cpu runtime/ops runtime/ops/fft/cpu runtime/ops/shape)
room(runtime/ops/products/cpu "Matrix products: BLAS, bf16 tiles, short products."
     runtime/core runtime/cpu runtime/ops/elementwise/cpu runtime/system)
room(runtime/ops/random/cpu "The Philox generator over vectors."
     runtime/core)
room(runtime/ops/nn/cpu "Kernels of layers."
     runtime/core runtime/cpu runtime/ops/elementwise/cpu runtime/ops/products/cpu runtime/ops/random/cpu
     runtime/ops/reductions/cpu)
room(runtime/ops/index/cpu "Sorting and selection of rows."
     runtime/cpu)
room(runtime/ops/index "Gather, scatter, sort, unique: ops with indices."
     runtime/batching runtime/core runtime/cpu runtime/ops runtime/ops/elementwise/cpu runtime/ops/index/cpu
     runtime/ops/reductions)
room(runtime/ops/nn "Layers as ops: convolution, pooling, attention, norms, recurrent layers, embedding bags, resizing."
     runtime runtime/core runtime/cpu runtime/ops runtime/ops/elementwise runtime/ops/index runtime/ops/nn/cpu
     runtime/ops/products/cpu runtime/ops/reductions runtime/ops/reductions/cpu)
room(runtime/deferral/cpu "Computes a group of deferred calls on the CPU."
     runtime/core runtime/cpu runtime/ops/elementwise/cpu runtime/ops/reductions/cpu)
room(runtime/cpu/device "The CPU as a device."
     runtime/core runtime/cpu runtime/deferral/cpu runtime/ops/products/cpu runtime/system)
room(runtime/deferral "Deferred calls: the queue, groups, captured graphs."
     runtime/core runtime/tape)
room(runtime/dist "Ranks: collectives, transfers, the transfer thread."
     runtime runtime/batching runtime/core runtime/cpu runtime/system runtime/tape)
room(runtime/dist/mpi "Ranks over MPI, a library of its own."
     runtime/core runtime/dist runtime/system)
room(runtime/ops/linalg/cpu "LAPACK, Cholesky, sums over pairs of rows."
     runtime/core runtime/cpu runtime/ops/products/cpu)
room(runtime/ops/products "Matrix products, einsum and their 16-bit forms."
     runtime/core runtime/cpu runtime/ops runtime/ops/elementwise runtime/ops/products/cpu)
room(runtime/ops/linalg "Linear algebra: factorizations, solvers, norms, distances."
     runtime/batching runtime/cpu runtime/elementwise runtime/ops runtime/ops/elementwise/cpu runtime/ops/linalg/cpu
     runtime/ops/products runtime/ops/products/cpu runtime/ops/reductions runtime/ops/reductions/cpu)
room(runtime/ops/loss "Losses."
     runtime runtime/core runtime/cpu runtime/elementwise runtime/ops runtime/ops/elementwise/cpu runtime/ops/nn
     runtime/ops/nn/cpu runtime/ops/reductions runtime/ops/reductions/cpu)
room(runtime/ops/optimizer/cpu "The loop of each record of optimizers.def."
     runtime/core runtime/cpu runtime/optimizer)
room(runtime/ops/optimizer "Steps of optimizers as ops."
     runtime/cpu runtime/ops runtime/ops/optimizer/cpu runtime/optimizer)
room(runtime/ops/random "Random numbers, dropout."
     runtime/core runtime/cpu runtime/ops runtime/ops/elementwise/cpu runtime/ops/random/cpu runtime/ops/shape)
room(runtime/run "Runs one op, from the operands to outputs, tape and listeners; the lists of all ops and row kernels."
     runtime/batching runtime/core runtime/deferral runtime/elementwise runtime/ops runtime/ops/products/cpu runtime/system
     runtime/tape)
room(runtime/vmap "Rules of vmap by op family."
     runtime runtime/batching runtime/core runtime/elementwise runtime/tape)
room(gpu/vulkan "The Vulkan layer: context, memory, stream, pipelines, timeline."
     runtime/core runtime/io runtime/system)
room(gpu/rates "Measured rates of devices and plans of products, kept in files."
     gpu/vulkan runtime/core)
room(gpu/ops "What kernels share: launches, operands, copies, parts of large calls, user kernels; glsl/ has the shared GLSL."
     gpu/rates gpu/vulkan runtime runtime/core runtime/ops/elementwise)
room(gpu/generate "Programs of the build that write shaders and constants."
     runtime/elementwise runtime/optimizer)
room(gpu/ops/elementwise "Kernels and shaders of elementwise ops."
     gpu/generate gpu/ops runtime runtime/elementwise runtime/ops)
room(gpu/ops/reductions "Kernels and shaders of reductions and scans."
     gpu/ops gpu/ops/elementwise runtime runtime/ops/reductions runtime/statistics)
room(gpu/groups "Groups of deferred calls: the text of their shaders, and their launch."
     gpu/generate gpu/ops gpu/ops/reductions gpu/vulkan runtime/core runtime/elementwise)
room(gpu/ops/products "Kernels and shaders of matrix products."
     gpu/ops gpu/ops/elementwise gpu/ops/reductions gpu/rates runtime runtime/core runtime/ops/elementwise)
room(gpu/ops/fft "Kernels of Fourier transforms."
     gpu/ops runtime/cpu runtime/ops/fft)
room(gpu/ops/index "Kernels and shaders of ops with indices."
     gpu/ops gpu/ops/elementwise runtime)
room(gpu/device "A Vulkan device as a device of the engine."
     gpu/groups gpu/ops gpu/ops/elementwise gpu/ops/index gpu/ops/products gpu/rates gpu/vulkan runtime runtime/core runtime/elementwise)
room(gpu "The header that main() includes, the registration of devices, and devices that a program shares."
     gpu/device runtime/core)
room(gpu/ops/linalg "Kernels and shaders of small matrices and of pairs of rows."
     gpu/ops gpu/ops/products gpu/ops/reductions runtime)
room(gpu/ops/loss "Kernels and shaders of losses."
     gpu/ops gpu/ops/reductions runtime)
room(gpu/ops/nn "Kernels and shaders of layers."
     gpu/ops gpu/ops/elementwise gpu/ops/products gpu/ops/reductions runtime runtime/core runtime/ops/nn runtime/ops/nn/cpu)
room(gpu/ops/optimizer "Kernels of the optimizers' steps."
     gpu/ops runtime runtime/optimizer)
room(gpu/ops/random "Kernels and shaders of random numbers."
     gpu/ops gpu/ops/elementwise gpu/ops/index runtime)
room(gpu/ops/shape "Kernels and shaders that create and rearrange tensors."
     gpu/ops runtime)
room(script/view "The data that a viewer receives."
     runtime/core runtime/statistics)
room(script "The session's header and its values, and what programs start with: standard streams and ranks."
     runtime runtime/core script/view)
room(script/parts "The optional parts of a build."
     runtime/core)
room(script/meta "Help, signatures and annotations, from the op records and lua/meta/."
     runtime/core runtime/io runtime/system script/parts)
room(script/chunk "Reads compiled Lua functions: globals, fields, lost values."
     runtime/core script/meta)
room(script/trust "Whose a run is, and whether its code runs with the user's rights."
     runtime/core runtime/io runtime/system/posix)
room(script/files "What a script may read and write, and files that it writes aside."
     runtime/core runtime/io script/trust)
room(script/lua "The Lua state: conversion, errors, sandbox, tracebacks, console scope."
     runtime/core script/chunk script/files script/meta script/parts script/view)
room(script/bind/autograd "Bindings of gradients, the tape, autocast and vmap."
     runtime runtime/batching runtime/core runtime/io runtime/system runtime/tape runtime/vmap script/lua script/meta)
room(script/bind/data "Bindings of files, batches and .pt."
     runtime runtime/core runtime/io script/files script/lua)
room(script/bind/deferral "Bindings of deferred calls and captured graphs."
     runtime/core runtime/deferral runtime/tape script/lua)
room(script/bind/distributed "Bindings of ranks."
     runtime/dist runtime/tape script/lua)
room(script/plan "A viewer's view of the plan of a step."
     runtime/core runtime/deferral script/view)
room(script/inspect "Watches of tapes, statistics, breakpoints and values, for a viewer."
     runtime runtime/core runtime/statistics runtime/tape script/lua script/meta script/plan script/view)
room(script/leaks "The owners of leaked tensors."
     runtime/core runtime/tape script/chunk script/lua script/view)
room(script/run "Run folders: configuration, records, notes, events, differences; the readers of bundles and sweeps."
     runtime runtime/core runtime/cpu runtime/dist runtime/io runtime/statistics runtime/system script/parts script/trust
     script/view)
room(script/time "Keyframes, replays, probes and forks of runs."
     runtime runtime/core runtime/io script script/lua script/run script/trust script/view)
room(script/profile "Times of steps and ranks."
     runtime/core runtime/dist runtime/tape script/view)
room(script/guard "The kernel's limits for a sandboxed script."
     runtime/core runtime/cpu runtime/io runtime/ops/products/cpu runtime/system runtime/system/posix script/meta script/run
     script/trust script/view)
room(script/compare "Compares a step with the CPU in f64."
     runtime runtime/core script/inspect script/view)
room(script/host "Values that a host passes to scripts."
     runtime/core runtime/system runtime/tape script script/meta)
room(script/session "The thread that runs a script, and its viewers."
     runtime runtime/core runtime/dist runtime/io runtime/system runtime/tape script script/chunk script/compare script/guard
     script/host script/inspect script/leaks script/lua script/meta script/profile script/run script/time script/view)
room(script/bind/nn "Bindings of modules and optimizers, and the operands of a module's latest call."
     runtime runtime/core runtime/optimizer runtime/tape script/lua script/session)
room(script/bind/parts "Bindings of the optional parts."
     script/lua script/parts)
room(script/bind/tensor "Bindings of tensors, ops and user kernels."
     runtime runtime/batching runtime/core runtime/cpu runtime/io runtime/tape script/bind/data script/lua script/meta
     script/session)
room(script/bind/run "Bindings of lg.run and of the host's values."
     runtime runtime/core runtime/io script script/bind/deferral script/bind/tensor script/lua script/session)
room(script/bind/surgery "Bindings that change a running model."
     runtime runtime/core script/bind/nn script/lua script/parts)
room(script/bundle "Packs runs into one file, and reads these files."
     runtime/core runtime/io script/parts script/run script/trust)
room(script/check "Whether a run or bundle can still be read and replayed."
     runtime/core runtime/io runtime/system/posix script/run script/time script/trust)
room(script/cli/ranks "Starts the ranks of a distributed run."
     runtime/core runtime/dist script script/run)
room(script/cli/base "What commands share: flags, devices, progress, exit codes."
     runtime/core runtime/cpu runtime/dist runtime/io runtime/system script script/cli/ranks script/guard script/parts
     script/run script/time script/view)
room(script/cli/bench "The command bench."
     runtime runtime/core runtime/cpu runtime/elementwise runtime/optimizer script/cli/base)
room(script/site "The documents as a static site: pages, reference, search."
     runtime/core runtime/io runtime/system script/cli/base script/meta)
room(script/cli/command "Commands that run, check and explain scripts."
     runtime runtime/core runtime/cpu runtime/io runtime/system script script/chunk script/cli/base script/cli/bench
     script/guard script/lua script/meta script/run script/site script/view)
room(script/cli "The program's commands."
     runtime/core script/cli/base script/cli/command script/parts)
room(script/cli/trust "Asks before the code of another owner's run."
     runtime/core runtime/io script/cli/base script/run script/time script/trust)
room(script/cli/bundle "The command bundle."
     runtime/core runtime/io script/bundle script/cli/base script/cli/trust script/run script/trust)
room(script/tape_diff "The difference of two tapes."
     runtime/core runtime/io runtime/statistics script/run)
room(script/report "Pages of runs and differences for a browser, and exported curves."
     runtime/core runtime/io runtime/system/posix script/run script/tape_diff script/view)
room(script/cli/history "Commands that work on run folders."
     runtime/core runtime/io script/check script/cli/base script/cli/command script/cli/trust script/report script/run
     script/tape_diff script/time script/trust script/view)
room(script/sweep "The folders of sweeps: plan, trials, claims, results, and their check."
     runtime/core runtime/io script/check script/parts script/run script/trust)
room(script/cli/sweep "Commands of sweeps, and the worker."
     runtime/core runtime/dist runtime/io runtime/system script/cli/base script/cli/trust script/run script/sweep script/trust
     script/view)
room(script/onnx "Export and import of ONNX models, and their bindings."
     runtime runtime/core runtime/elementwise runtime/io runtime/ops/elementwise script/bind/data script/lua script/parts)
room(script/serve "The HTTP server and its command."
     runtime/core script/cli/base script/report script/run)
room(ui/base "Text, numbers and descriptions without Dear ImGui."
     runtime/core script/view)
room(ui/window "GLFW, Vulkan, fonts, themes, input."
     runtime/core runtime/io ui/base)
room(ui/record "The registry and the record of actions."
     runtime/core script/lua)
room(ui/text "Search, and text that can be edited."
     runtime/core ui/base ui/window)
room(ui/runs "Run folders as the window lists them, and their curves."
     runtime/core runtime/io script script/run script/view ui/base ui/text)
room(ui/graph "Layout and canvas of graphs."
     ui/window)
room(ui/widgets "Widgets that several panels draw."
     runtime/core runtime/statistics ui/base ui/window)
room(ui/tape "The tape as a graph."
     runtime/core runtime/io runtime/system script/view ui/base ui/graph ui/widgets ui/window)
room(ui/time "Replays, probes and forks in the window."
     runtime/core runtime/io script script/guard script/run script/time script/trust script/view ui/base ui/record ui/runs)
room(ui/inspect "What the window asks a session for, and its answers."
     runtime/core script script/view ui/base)
room(ui/editor "The script's editor and the console's input."
     runtime/core runtime/io script script/lua script/meta script/view ui/base ui/text ui/widgets ui/window)
room(ui/actions "The functions that panels call."
     runtime/core runtime/io script script/lua script/run script/view ui/base ui/editor ui/inspect ui/record ui/runs ui/tape
     ui/time ui/window)
room(ui/compare "Comparisons of steps, runs and tapes."
     runtime/core runtime/io script/report script/tape_diff script/view ui/actions ui/base ui/inspect ui/record ui/runs ui/tape
     ui/widgets ui/window)
room(ui/workbench "The state that panels read."
     script script/meta ui/actions ui/base ui/compare ui/inspect ui/runs ui/tape ui/time ui/window)
room(ui/panels/runs "Parts of the runs panel."
     runtime/core script/report script/run ui/base ui/runs ui/widgets ui/window ui/workbench)
room(ui/panels/editor "Parts of the editor panel."
     script/run ui/base ui/editor ui/text ui/window ui/workbench)
room(ui/panels/time "Parts of the timeline panel."
     runtime/core ui/base ui/runs ui/widgets ui/window ui/workbench)
room(ui/curves "Plots of curves."
     runtime/core runtime/io ui/base ui/runs ui/window)
room(ui/panels/profile "Parts of the profile panel."
     runtime/core script/view ui/base ui/tape ui/widgets ui/window ui/workbench)
room(ui/panels/tape "Parts of the tape panel."
     runtime/core runtime/io script/view ui/base ui/graph ui/inspect ui/runs ui/tape ui/widgets ui/window ui/workbench)
room(ui/panels "One file per panel."
     runtime/core runtime/io script/lua script/meta script/parts script/run ui/base ui/curves ui/editor ui/inspect
     ui/panels/editor ui/panels/profile ui/panels/runs ui/panels/tape ui/panels/time ui/runs ui/tape ui/text ui/time ui/widgets ui/window
     ui/workbench)
room(ui "The header of the panels for a host."
     runtime/core script ui/panels ui/window ui/workbench)
room(ui/app "The program: windows, arguments, frames."
     runtime/core runtime/io script/lua script/run script/view ui/base ui/panels ui/time ui/window ui/workbench)
room(capi "The C library: handles, the wall around each function, and the functions of lunagrad.h."
     gpu runtime runtime/core runtime/cpu runtime/cpu/device runtime/tape script script/meta)
room(capi/session "Sessions of the C library."
     capi runtime/core runtime/tape script script/host script/view)
