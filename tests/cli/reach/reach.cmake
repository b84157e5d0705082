# SPDX-License-Identifier: MIT
# Tests of openpla run, in a separate folder: openpla.exe beside an openetw.dll with stand-in functions that report
# their calls. The code that injects them into programs is the real one.
set(reach ${CMAKE_BINARY_DIR}/bin/reach)
set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(reach_openetw SHARED ${here}/stand_in.c ${CMAKE_SOURCE_DIR}/engine/etw/dll/openetw_dll.c
  ${CMAKE_SOURCE_DIR}/engine/etw/injection/injection_redirect_dll.c ${here}/stand_in.def)
target_link_libraries(reach_openetw PRIVATE openpla_etw openpla_flags)
add_library(reach_early SHARED ${here}/early.c)
target_link_libraries(reach_early PRIVATE openpla_flags)
add_library(reach_late SHARED ${here}/late.c)
target_link_libraries(reach_late PRIVATE openpla_flags)
add_executable(reach_target ${here}/target.c)
target_link_libraries(reach_target PRIVATE reach_early openpla_flags)
set_target_properties(reach_openetw reach_early reach_late reach_target PROPERTIES PREFIX ""
  RUNTIME_OUTPUT_DIRECTORY ${reach} ARCHIVE_OUTPUT_DIRECTORY ${reach})
set_target_properties(reach_openetw PROPERTIES OUTPUT_NAME openetw)
add_custom_command(OUTPUT ${reach}/openpla.exe DEPENDS openpla_program
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:openpla_program> ${reach}/openpla.exe VERBATIM)
add_custom_target(reach_openpla ALL DEPENDS ${reach}/openpla.exe)
add_test(NAME cli.run COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/run.py ${reach}
  ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(cli.run)
# Tests with the real openetw.dll.
add_executable(unaware ${here}/unaware.c)
target_link_libraries(unaware PRIVATE openpla_flags)
add_dependencies(unaware openetw openetwhost opentdh)
add_test(NAME cli.run_unaware COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/run_unaware.py
  $<TARGET_FILE:openpla_program> $<TARGET_FILE:unaware> ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(cli.run_unaware)
