# Writes the page of reports as C++ texts. Run by the build as
#   cmake -DFOLDER=script/report/web -DOUT=FILE -P cmake/embed.cmake
# The scripts of a page are one text, in the order of their names; page.html puts a function around it. The page of a
# tape diff has its own scripts, after the scripts that draw a tape.
cmake_minimum_required(VERSION 3.25)
file(GLOB SCRIPTS ${FOLDER}/*.js)
file(GLOB TAPE_DIFF_SCRIPTS ${FOLDER}/tape_diff/*.js)
file(GLOB STYLES ${FOLDER}/*.css)
set(out "// Written by cmake/embed.cmake.\nnamespace lunagrad {\n")
macro(text name)
  string(APPEND out "extern const char* const ${name};\nconst char* const ${name} =\n")
  foreach(file ${ARGN})
    file(READ ${file} content)
    string(APPEND out "R\"lunagrad(${content})lunagrad\"\n")
  endforeach()
  string(APPEND out ";\n")
endmacro()
text(kReportTemplate ${FOLDER}/page.html)
text(kReportStyle ${STYLES})
text(kReportScript ${SCRIPTS})
text(kTapeDiffScript ${FOLDER}/10_text.js ${FOLDER}/50_layout.js ${FOLDER}/60_tape.js ${TAPE_DIFF_SCRIPTS})
string(APPEND out "}  // namespace lunagrad\n")
file(WRITE ${OUT} "${out}")
