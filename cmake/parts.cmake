# The optional parts. A part is one entry here and the folders that it names: delete both to delete the part.
# LUNAGRAD_NAME=OFF leaves a part out of the build; its commands and fields then say so.
#   part(NAME "WHAT IT IS" [LIBRARY FOLDER...] [PROGRAM FOLDER...] [COMMANDS NAME...] [FIELDS PATH=MODULE...] [TESTS FILE...])
#     LIBRARY   folders for every host of scripts; a source in them defines add_part_NAME(Parts&) of script/parts/parts.h
#     PROGRAM   folders for the program alone; their sources define add_COMMAND(Program&) for each of COMMANDS
#     FIELDS    names in lg and their Lua modules (PartField in script/parts/names.h)
#     TESTS     sources, folders and Lua scripts of tests that need the part; tests.cmake in a folder adds entries to ctest
# part.cmake in a folder of a part adds what its sources need (cmake/part.cmake).
include(${PROJECT_SOURCE_DIR}/cmake/part.cmake)

part(serve "the HTTP server" PROGRAM script/serve COMMANDS serve
     TESTS tests/script/serve)

part(surgery "changes of a running model" LIBRARY script/bind/surgery FIELDS surgery=lunagrad.surgery
     TESTS tests/lua/test_surgery.lua tests/script/session/test_surgery.cpp tests/script/time/test_probe_recipes.cpp)
part(onnx "export and import of ONNX models" LIBRARY script/onnx
     FIELDS io.onnx_export=lunagrad.onnx io.onnx_import=lunagrad.onnx_import
     TESTS tests/onnx tests/script/onnx tests/lua/test_onnx.lua tests/lua/test_onnx_import.lua tests/lua/test_batch_norm.lua)

write_part_tables()
