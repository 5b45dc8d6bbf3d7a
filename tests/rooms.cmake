# The rooms of script/ and ui/ and what each may include: a line for each room, checked by layers.cmake. A room includes only
# rooms that stand above it, so there are no cycles. The composition roots script/main.cpp and ui/main.cpp may include
# everything.
#   room(FOLDER  FOLDERS THAT IT MAY INCLUDE...)      an edge that no include uses is a fault, too
room(script/meta          runtime runtime/io)
room(script/onnx          runtime runtime/elementwise runtime/io runtime/ops)
room(script/view          runtime runtime/statistics)
room(script               script/view)
room(script/lua           runtime script/meta script/view)
room(script/profile       runtime runtime/tape script/view)
room(script/run           runtime runtime/cpu runtime/io runtime/statistics script/view)
room(script/cli/base      runtime runtime/io script)
room(script/inspect       runtime runtime/statistics runtime/tape script/lua script/meta script/view)
room(script/cli/bench     runtime runtime/cpu runtime/elementwise script/cli/base)
room(script/session       runtime runtime/io runtime/tape script script/inspect script/lua script/profile
                          script/run)
room(script/bind          runtime runtime/io runtime/tape script/lua script/meta script/onnx
                          script/session)
room(script/cli/command   runtime runtime/cpu runtime/io script script/cli/base script/cli/bench
                          script/lua script/meta script/run)
room(script/cli           script/cli/base script/cli/command)
room(ui/base              runtime)
room(ui/inspect           runtime script script/view ui/base)
room(ui/window            runtime runtime/io ui/base)
room(ui/graph             ui/window)
room(ui/widgets           runtime/statistics ui/base ui/window)
room(ui/tape              runtime runtime/io script ui/base ui/graph ui/widgets ui/window)
room(ui/text              ui/base ui/widgets ui/window)
room(ui/editor            runtime runtime/io script script/lua script/meta ui/base ui/text ui/widgets
                          ui/window)
room(ui/runs              runtime runtime/io script script/run ui/base ui/text)
room(ui/curves            ui/base ui/runs ui/window)
room(ui/workbench         runtime runtime/io script script/lua script/meta script/run ui/base ui/editor
                          ui/inspect ui/runs ui/tape ui/widgets ui/window)
room(ui                   runtime script ui/widgets ui/window ui/workbench)
room(ui/panels            runtime runtime/io script/lua script/meta script/run script/view ui/base
                          ui/curves ui/editor ui/graph ui/inspect ui/runs ui/tape ui/text ui/widgets
                          ui/window ui/workbench)
room(ui/app               runtime runtime/io script/lua ui/base ui/panels ui/widgets ui/window
                          ui/workbench)
