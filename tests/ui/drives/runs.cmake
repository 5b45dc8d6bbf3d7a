# A thousand run folders, some of them truncated or being written.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
foreach(step RANGE 1 300)
  math(EXPR lower "900 - ${step} * 2")
  string(APPEND rows "{\"step\":${step},\"time\":${step},\"metrics\":{\"loss\":0.${lower}}}\n")
endforeach()
foreach(number RANGE 1 1000)
  math(EXPR seed "${number} % 7")
  set(folder ${WORK}/runs/run-${number})
  file(WRITE ${folder}/config.json "{\"script\": \"train.lua\", \"started\": \"2026-01-02T03:04:05Z\", \"device\": \"cpu\",
    \"seed\": ${seed}, \"params\": {\"lr\": 0.${number}}, \"outcome\": \"ok\", \"seconds\": ${number}}")
  file(WRITE ${folder}/script.lua "print(${seed})\n")
  file(WRITE ${folder}/metrics.jsonl "${rows}{\"step\":301,\"time\":${number},\"metrics\":{\"loss\":0.${number}}}\n")
endforeach()
file(WRITE ${WORK}/runs/run-7/metrics.jsonl "${rows}{\"step\":301,\"ti")
file(WRITE ${WORK}/runs/run-8/config.json "{\"script\": \"train.l")
file(WRITE ${WORK}/runs/run-9/metrics.jsonl "")
file(MAKE_DIRECTORY ${WORK}/runs/run-1001)
file(WRITE ${WORK}/train.lua "print 'begin'\n")

expect(runs 0 "" ${display} ${WORKBENCH} ${WORK}/train.lua ${VALIDATION} --size 1280x800
       --drive ${SOURCE}/tests/ui/drives/runs.lua ${WORK})
finish()
