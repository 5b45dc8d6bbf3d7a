# Models and samples of every op as ONNX files, validated by the checker of Debian's python3-onnx.
set(ONNX_MODELS ${PROJECT_BINARY_DIR}/onnx-models)
file(MAKE_DIRECTORY ${ONNX_MODELS})
add_test(NAME onnx-models COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/onnx/models.lua -- ${ONNX_MODELS})
add_test(NAME onnx-ops COMMAND lunagrad-tests "-tc=ONNX: every op*")
add_test(NAME onnx-check COMMAND ${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/onnx/check.py ${ONNX_MODELS})
set_tests_properties(onnx-models onnx-ops PROPERTIES FIXTURES_SETUP onnx-models)
set_tests_properties(onnx-ops PROPERTIES ENVIRONMENT "LUNAGRAD_ONNX_FOLDER=${ONNX_MODELS}")
add_test(NAME onnx-import COMMAND lunagrad run ${PROJECT_SOURCE_DIR}/tests/onnx/import.lua -- ${ONNX_MODELS})
set_tests_properties(onnx-check onnx-import PROPERTIES FIXTURES_REQUIRED onnx-models)
# ONNX's own test cases of each operator.
add_test(NAME onnx-nodes COMMAND sh -ec "${DEBIAN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/onnx/node_cases.py ${PROJECT_BINARY_DIR}/onnx-nodes 2>&1 && \
$<TARGET_FILE:lunagrad> run ${PROJECT_SOURCE_DIR}/tests/onnx/import.lua -- ${PROJECT_BINARY_DIR}/onnx-nodes refused")
# Nodes whose attributes and operands are wrong: more of them with LUNAGRAD_TEST_ALL.
add_test(NAME onnx-wrong-nodes WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
         COMMAND lunagrad run --memory 256 ${PROJECT_SOURCE_DIR}/tests/fuzz/onnx_nodes.lua)
