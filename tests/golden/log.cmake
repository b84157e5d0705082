# SPDX-License-Identifier: MIT
# Binary logs of many shapes, read back by a reader that shares no code with the writer.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_executable(write_blg ${CMAKE_CURRENT_LIST_DIR}/write_blg.c)
target_link_libraries(write_blg PRIVATE openpla_log openpla_flags)
set(_logs ${CMAKE_CURRENT_BINARY_DIR}/logs)
add_test(NAME golden_blg.write COMMAND write_blg ${_logs})
add_test(NAME golden_blg.read
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/blg_check.py --written ${_logs})
openpla_test_properties(golden_blg.write)
openpla_test_properties(golden_blg.read)
set_tests_properties(golden_blg.write PROPERTIES FIXTURES_SETUP golden_blg)
set_property(TEST golden_blg.write APPEND PROPERTY ENVIRONMENT TZ=IST-5:30)
set_property(TEST golden_blg.read APPEND PROPERTY FIXTURES_REQUIRED golden_blg)
