# ONNX's messages are generated from Debian's onnx.proto for protobuf-lite. They get their own package name, so that a host
# may link libonnx too.
set(PACKAGES PROTOBUF=protobuf-lite)
find_program(LUNAGRAD_PROTOC protoc REQUIRED)
find_path(LUNAGRAD_ONNX_PROTO onnx.proto PATH_SUFFIXES onnx REQUIRED)
set(ONNX_DIR ${PROJECT_BINARY_DIR}/onnx)
file(MAKE_DIRECTORY ${ONNX_DIR})
file(READ ${LUNAGRAD_ONNX_PROTO}/onnx.proto MESSAGES)
string(REPLACE "\npackage onnx;" "\npackage lunagrad.onnx_messages;" MESSAGES "${MESSAGES}")
file(CONFIGURE OUTPUT ${ONNX_DIR}/onnx.proto CONTENT "${MESSAGES}" @ONLY)
add_custom_command(OUTPUT ${ONNX_DIR}/onnx.pb.cc ${ONNX_DIR}/onnx.pb.h
  COMMAND ${LUNAGRAD_PROTOC} --cpp_out=lite:${ONNX_DIR} --proto_path=${ONNX_DIR} onnx.proto
  DEPENDS ${ONNX_DIR}/onnx.proto COMMENT "Writing ONNX's messages" VERBATIM)
set_source_files_properties(${ONNX_DIR}/onnx.pb.cc PROPERTIES COMPILE_OPTIONS "-w;-O1")
target_include_directories(${PART_TARGET} SYSTEM PRIVATE ${ONNX_DIR})
target_sources(${PART_TARGET} PRIVATE ${ONNX_DIR}/onnx.pb.cc ${ONNX_DIR}/onnx.pb.h)
# The test reads the ONNX files that it wrote.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/script/onnx/test_onnx.cpp
                            PROPERTIES COMPILE_OPTIONS "-isystem;${ONNX_DIR}" OBJECT_DEPENDS ${ONNX_DIR}/onnx.pb.h)
