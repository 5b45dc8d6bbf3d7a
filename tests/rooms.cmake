# The rooms of runtime/, script/ and ui/ and what each may include: a line for each room, checked by layers.cmake. A room
# includes only rooms that are listed above it, so there are no cycles. The composition roots script/main.cpp and
# ui/main.cpp may include everything.
#   room(FOLDER  FOLDERS THAT IT MAY INCLUDE...)      an edge that no include uses is a fault, too
#   files(ROOM  FILES...)                             these files of another folder belong to ROOM, .h and .cpp

# runtime/ itself holds the foundations (dtype, shape, storage, tensor, device, context ...) and the public headers. Records
# and calls (op) come next, then the table of elementwise rows, the CPU kernels, the tape, run() and the ops. A lower room may
# declare functions that a higher one implements: make_cpu_device() of device.h (cpu/), the members of Tensor that need nodes
# (tape/) or ops (ops/to_vector.cpp), run() of op.h (run.cpp), all_ops() of op.h, elementwise.h, primitives.h and
# row_kernel() of cpu/row_kernel.h (ops/).
files(runtime/op          runtime/op runtime/called runtime/primitives runtime/product_planner runtime/user_kernel runtime/in_place
                          runtime/row_reduction runtime/script_numbers)
files(runtime/run         runtime/run)
files(runtime/ops         runtime/ops)
room(runtime)
room(runtime/op           runtime)
room(runtime/elementwise  runtime/op)
room(runtime/optimizer    runtime/op)
room(runtime/cpu          runtime runtime/elementwise runtime/op runtime/optimizer)
room(runtime/batching     runtime runtime/op)
room(runtime/tape         runtime runtime/batching runtime/cpu runtime/op)
room(runtime/deferral     runtime runtime/op runtime/tape)
room(runtime/run          runtime runtime/batching runtime/deferral runtime/op runtime/tape)
room(runtime/ops          runtime runtime/batching runtime/cpu runtime/elementwise runtime/op runtime/optimizer
                          runtime/tape)
room(runtime/vmap         runtime/batching runtime/elementwise runtime/op runtime/ops runtime/tape)
room(runtime/statistics   runtime runtime/cpu runtime/op runtime/ops)
room(runtime/io           runtime runtime/cpu runtime/ops runtime/tape)
room(runtime/dist         runtime runtime/batching runtime/cpu runtime/ops runtime/tape)
room(runtime/dist/mpi     runtime runtime/dist)

room(script/trust         runtime runtime/io)
room(script/meta          runtime runtime/io)
room(script/onnx          runtime runtime/elementwise runtime/io runtime/ops)
room(script/view          runtime runtime/statistics)
room(script               runtime script/view)
room(script/files         runtime runtime/io script/trust)
room(script/chunk         runtime script/meta)
room(script/lua           runtime script/chunk script/files script/meta script/view)
room(script/profile       runtime runtime/dist runtime/tape script/view)
room(script/run           runtime runtime/cpu runtime/dist runtime/io runtime/statistics script/trust script/view)
room(script/guard         runtime runtime/cpu runtime/io script/meta script/run script/trust script/view)
room(script/bundle        runtime runtime/io script/run script/trust)
room(script/sweep         runtime runtime/io script/run script/trust)
room(script/tape_diff     runtime runtime/io runtime/statistics script/run)
room(script/report        runtime runtime/io script/run script/tape_diff)
room(script/serve         runtime script/report script/run)
room(script/time          runtime runtime/io script script/lua script/run script/trust script/view)
room(script/check         runtime runtime/io script/bundle script/run script/sweep script/time script/trust)
room(script/cli/ranks      runtime runtime/dist script script/run)
room(script/cli/base       runtime runtime/cpu runtime/dist runtime/io script script/cli/ranks script/guard script/run
                           script/time script/view)
room(script/cli/sweep     runtime runtime/dist runtime/io script script/cli/base script/run script/sweep script/trust)
room(script/cli/trust     runtime runtime/io script/cli/base script/run script/time script/trust)
room(script/plan          runtime runtime/deferral script/view)
room(script/inspect       runtime runtime/statistics runtime/tape script/lua script/meta script/plan script/view)
room(script/leaks         runtime runtime/tape script/chunk script/lua script/view)
room(script/cli/bench     runtime runtime/cpu runtime/elementwise runtime/optimizer script/cli/base)
room(script/compare       runtime script/inspect script/view)
room(script/host          runtime script/meta)
room(script/session       runtime runtime/dist runtime/io runtime/tape script script/chunk script/compare script/guard script/host
                          script/inspect script/leaks script/lua script/meta script/profile script/run script/time
                          script/view)
room(script/distributed   runtime/dist runtime/tape script/lua)
room(script/deferral        runtime runtime/deferral runtime/tape script/lua)
room(script/surgery       runtime script/lua)
room(script/bind          runtime runtime/batching runtime/cpu runtime/io runtime/optimizer runtime/tape runtime/vmap
                          script/files script/lua script/meta script/onnx script/deferral script/session script/surgery)
room(script/cli/command   runtime runtime/cpu runtime/io script script/bundle script/chunk script/cli/base script/cli/bench
                          script/cli/sweep script/cli/trust script/guard script/lua script/meta script/run script/serve script/sweep)
room(script/cli/history   runtime runtime/io script script/bundle script/check script/cli/base script/cli/command
                          script/cli/trust script/report script/run script/sweep script/tape_diff script/time script/trust)
room(script/cli           runtime script/cli/base script/cli/command)
room(ui/base              runtime)
room(ui/record            runtime script/lua)
room(ui/inspect           runtime script script/view ui/base)
room(ui/window            runtime runtime/io ui/base)
room(ui/graph             ui/window)
room(ui/widgets           runtime runtime/statistics ui/base ui/window)
room(ui/tape              runtime runtime/io script ui/base ui/graph ui/widgets ui/window)
room(ui/text              ui/base ui/window)
room(ui/editor            runtime runtime/io script script/lua script/meta ui/base ui/text ui/widgets
                          ui/window)
room(ui/runs              runtime runtime/io script script/run script/sweep ui/base ui/text)
room(ui/time              runtime runtime/io script script/bundle script/guard script/run script/sweep script/time script/trust
                          script/view ui/base ui/record ui/runs)
room(ui/curves            runtime ui/base ui/runs ui/window)
room(ui/actions           runtime runtime/io script script/bundle script/lua script/run script/sweep ui/base ui/editor ui/inspect
                          ui/record ui/runs ui/tape ui/time ui/window)
room(ui/compare           runtime runtime/io script script/report script/tape_diff script/view ui/actions ui/base ui/inspect ui/record
                          ui/runs ui/tape ui/widgets ui/window)
room(ui/workbench         script script/meta ui/actions ui/base ui/compare ui/inspect ui/runs ui/tape ui/time ui/window)
room(ui                   runtime script ui/window ui/workbench)
room(ui/panels/time        runtime ui/base ui/runs ui/window ui/workbench)
room(ui/panels/runs       script/run ui/runs ui/window ui/workbench)
room(ui/panels/profile     runtime script/view ui/base ui/tape ui/widgets ui/window ui/workbench)
room(ui/panels/tape         runtime runtime/io script/view ui/base ui/graph ui/tape ui/window ui/workbench)
room(ui/panels             runtime runtime/io script/lua script/meta script/report script/run ui/base ui/curves
                          ui/editor ui/inspect ui/panels/profile ui/panels/runs ui/panels/tape ui/panels/time ui/runs ui/tape
                          ui/text ui/time ui/widgets ui/window ui/workbench)
room(ui/app               runtime runtime/io script/lua script/run script/view ui/base ui/panels ui/time ui/window
                          ui/workbench)
