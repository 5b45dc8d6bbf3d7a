# The optional parts. A part is one entry here and the folders that it names: delete both to delete the part.
# LUNAGRAD_NAME=OFF leaves a part out of the build; its commands and fields then say so.
#   lunagrad_part(NAME "WHAT IT IS" [LIBRARY FOLDER...] [PROGRAM FOLDER...] [LOADED FOLDER...] [COMMANDS NAME...] [FIELDS PATH=MODULE...]
#        [TESTS FILE...])
#     LIBRARY   folders for every host of scripts; a source in them defines add_part_NAME(Parts&) of script/parts/parts.h
#     PROGRAM   folders for the program alone; their sources define add_COMMAND(Program&) for each of COMMANDS
#     LOADED    folders whose part.cmake builds a library that is loaded at run time
#     FIELDS    names in lg and their Lua modules (PartField in script/parts/names.h)
#     TESTS     sources, folders and Lua scripts of tests that need the part; tests.cmake in a folder adds entries to ctest
# part.cmake in a folder of a part adds what its sources need (cmake/part.cmake).
include(${PROJECT_SOURCE_DIR}/cmake/part.cmake)

# What the documents show needs all parts.
set(TESTS_OF_ALL_PARTS tests/script/pages tests/script/meta/test_docs.cpp tests/script/meta/test_help.cpp
    tests/lua/test_doc_names.lua tests/lua/test_empty_options.lua tests/ui/drives/pages.cmake tests/ui/drives/pictures.cmake)

lunagrad_part(sweeps "sweeps: trials of a script's parameters" LIBRARY script/sweep PROGRAM script/cli/sweep COMMANDS sweep
     TESTS tests/sweep tests/script/sweep tests/script/cli/test_sweep.cpp tests/script/cli/test_terminal_text.cpp
           tests/script/trust/test_attacks.cpp tests/script/trust/test_confined.cpp tests/fuzz/test_mutated_sweeps.cpp
           tests/ui/drives/sweep.cmake tests/ui/drives/trust.cmake)
lunagrad_part(serve "the HTTP server" PROGRAM script/serve COMMANDS serve
     TESTS tests/script/serve)
lunagrad_part(bundles "bundles: runs in one file" LIBRARY script/bundle PROGRAM script/cli/bundle COMMANDS bundle
     TESTS tests/script/bundle tests/script/cli/test_terminal_text.cpp tests/script/cli/test_written_files.cpp
           tests/script/guard/test_guarded_runs.cpp tests/script/run/test_damage.cpp tests/script/run/test_path_names.cpp
           tests/script/run/test_runs.cpp tests/script/trust/test_attacks.cpp tests/script/trust/test_confined.cpp
           tests/script/trust/test_trust.cpp tests/fuzz/test_mutated_bundles.cpp tests/ui/drives/trust.cmake)
lunagrad_part(surgery "changes of a running model" LIBRARY script/bind/surgery FIELDS surgery=lunagrad.surgery
     TESTS tests/lua/test_surgery.lua tests/script/session/test_surgery.cpp tests/script/time/test_probe_recipes.cpp
           tests/script/inspect/test_tape_names.cpp tests/ui/drives/surgery.lua tests/ui/drives/names.lua
           tests/ui/drives/probes.lua tests/ui/drives/palette.lua)
lunagrad_part(onnx "export and import of ONNX models" LIBRARY script/onnx
     FIELDS io.onnx_export=lunagrad.onnx io.onnx_import=lunagrad.onnx_import
     TESTS tests/onnx tests/script/onnx tests/script/lua/test_sandbox.cpp tests/script/lua/test_sandbox_attacks.cpp
           tests/lua/test_onnx.lua tests/lua/test_onnx_import.lua tests/lua/test_batch_norm.lua tests/fuzz/test_mutated_onnx.cpp)

lunagrad_part(distributed "several processes: lg.distributed and its MPI library" LOADED runtime/dist/mpi
     FIELDS distributed=lunagrad.distributed
     TESTS tests/distributed tests/lua/test_distributed.lua tests/script/inspect/test_pause_values.cpp)

lunagrad_write_part_tables()
