# Plays one drive in the real window, with Vulkan's validation:
#   cmake -DDRIVE=digits.lua "-DARGUMENTS=script.lua --size 1280x800" … -P tests/ui/drives/drive.cmake      see drives.cmake
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
separate_arguments(ARGUMENTS)
expect(${DRIVE} 0 "" ${display} ${WORKBENCH} ${ARGUMENTS} ${VALIDATION} --drive ${SOURCE}/tests/ui/drives/${DRIVE} ${WORK})
finish()
