# Writes the manual page of lunagrad-workbench to OUT, from the help that PROGRAM prints.
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE HELP COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "^lunagrad-workbench ([^\n]*)\n(.*)$" HELP "${HELP}")
if(NOT HELP)
  message(FATAL_ERROR "${PROGRAM} --help does not begin with its command line")
endif()
set(SYNOPSIS "${CMAKE_MATCH_1}")
set(TEXT "${CMAKE_MATCH_2}")
foreach(PART SYNOPSIS TEXT)
  string(REPLACE "\\" "\\e" ${PART} "${${PART}}")
  string(REPLACE "-" "\\-" ${PART} "${${PART}}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" ${PART} "${${PART}}")
endforeach()
file(WRITE ${OUT} ".TH LUNAGRAD-WORKBENCH 1 \"\" \"Lunagrad ${VERSION}\"
.SH NAME
lunagrad\\-workbench \\- window that shows how a network trains
.SH SYNOPSIS
.B lunagrad\\-workbench
${SYNOPSIS}
.SH DESCRIPTION
.nf
${TEXT}.fi
.SH SEE ALSO
.BR lunagrad (1),
whose command
.B lunagrad help window
describes the panels.
")
