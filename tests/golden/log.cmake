# SPDX-License-Identifier: MIT
# Binary logs of many shapes, read by our readers and by readers that share no code with them or with the writer.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(program write_blg read_logs)
  add_executable(${program} ${CMAKE_CURRENT_LIST_DIR}/${program}.c ${CMAKE_CURRENT_LIST_DIR}/log_lines.c)
  target_link_libraries(${program} PRIVATE openpla_logs openpla_flags)
endforeach()
add_executable(write_etl ${CMAKE_CURRENT_LIST_DIR}/write_etl.c)
target_link_libraries(write_etl PRIVATE openpla_etw openpla_flags)
set(_logs ${CMAKE_CURRENT_BINARY_DIR}/logs)
set(_made ${CMAKE_CURRENT_BINARY_DIR}/containers)
add_test(NAME golden_blg.write COMMAND write_blg ${_logs})
add_test(NAME golden_etl.write COMMAND write_etl ${_logs})
add_test(NAME golden_etl.make
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/etl_check.py --make ${_made})
add_test(NAME golden_log.read COMMAND read_logs ${_logs} ${_made})
add_test(NAME golden_blg.check
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/blg_check.py --written ${_logs})
add_test(NAME golden_etl.check_written
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/etl_check.py --compare ${_logs})
add_test(NAME golden_etl.check_made
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/etl_check.py --compare ${_made})
foreach(test blg.write etl.write etl.make log.read blg.check etl.check_written etl.check_made)
  openpla_test_properties(golden_${test})
endforeach()
# Removes the logs, because they take 180 MB. With `ctest -FC golden_logs` they are kept.
add_test(NAME golden_log.remove COMMAND ${CMAKE_COMMAND} -E rm -rf ${_logs} ${_made})
set_tests_properties(golden_log.remove PROPERTIES FIXTURES_CLEANUP golden_logs)
set_tests_properties(golden_blg.write golden_etl.write golden_etl.make PROPERTIES FIXTURES_SETUP golden_logs)
set_tests_properties(golden_log.read PROPERTIES FIXTURES_SETUP golden_read)
set_property(TEST golden_blg.write golden_log.read APPEND PROPERTY ENVIRONMENT TZ=IST-5:30)
set_property(TEST golden_log.read APPEND PROPERTY FIXTURES_REQUIRED golden_logs)
foreach(test blg.check etl.check_written etl.check_made)
  set_property(TEST golden_${test} APPEND PROPERTY FIXTURES_REQUIRED golden_logs golden_read)
endforeach()
