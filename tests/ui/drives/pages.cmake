# The window in the pages of the documents: their scripts are opened with the pages' command lines, and the drives of
# pages/ follow the instructions and check the claims. The blocks of Lua are the pages', too.
include(${CMAKE_CURRENT_LIST_DIR}/pages/page.cmake)
page(README.md)
save(spirals.lua)
play(spirals.lua readme.lua)

page(docs/tutorial.md)
file(COPY_FILE ${SOURCE}/examples/14_find_the_bug.lua ${WORK}/find_the_bug.lua)
play(find_the_bug.lua tutorial.lua)

page(docs/find-the-bug.md)
play(examples/broken/1_spikes.lua spikes.lua)
play(examples/broken/3_relapse.lua relapse.lua)

page(docs/guide.md)
file(COPY_FILE ${SOURCE}/assets/data/digits.csv ${WORK}/digits.csv)
save(model.lua)
save(train.lua)
play(train.lua guide.lua)

page(docs/sweeps.md)
save(train.lua)
execute_process(COMMAND ${programs}/lunagrad sweep new s train.lua --grid width=16,64 --random lr=1e-4..1e-1:log --trials 4
                WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${programs}/lunagrad sweep join s WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
play(s sweeps.lua)

page(docs/distributed.md)
if(EXISTS ${programs}/liblunagrad-mpi.so)
  save(uneven.lua)
  play(uneven.lua distributed.lua)
endif()
finish()
