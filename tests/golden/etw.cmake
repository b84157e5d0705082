# SPDX-License-Identifier: MIT
# Examples that use only Windows' headers create and read a trace.
if(CMAKE_CROSSCOMPILING)
  add_test(NAME golden_etw.programs COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/event_programs.py
    ${CMAKE_BINARY_DIR}/bin ${CMAKE_C_COMPILER} ${CMAKE_CROSSCOMPILING_EMULATOR})
  openpla_test_properties(golden_etw.programs)
  add_test(NAME golden_etw.manifest COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/manifest_programs.py
    ${CMAKE_BINARY_DIR}/bin ${CMAKE_CROSSCOMPILING_EMULATOR})
  openpla_test_properties(golden_etw.manifest)
endif()
