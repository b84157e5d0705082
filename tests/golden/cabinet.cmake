# SPDX-License-Identifier: MIT
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_executable(write_cabinet ${CMAKE_CURRENT_LIST_DIR}/write_cabinet.c)
target_link_libraries(write_cabinet PRIVATE openpla_cabinet openpla_flags)
add_test(NAME golden_cabinet COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cabinet_check.py
  $<TARGET_FILE:write_cabinet> ${CMAKE_CROSSCOMPILING_EMULATOR})
openpla_test_properties(golden_cabinet)
