# SPDX-License-Identifier: MIT
openpla_test(test_run_schedule ${CMAKE_CURRENT_LIST_DIR}/test_run_schedule.c LINK openpla_run)
openpla_test(test_run_state ${CMAKE_CURRENT_LIST_DIR}/test_run_state.c LINK openpla_run)
# The host of these runs is a program of the tests; under Wine it finds openpdh.dll beside itself.
add_executable(run_test_host ${CMAKE_CURRENT_LIST_DIR}/run_test_host.c)
target_link_libraries(run_test_host PRIVATE openpla_run openpla_flags)
foreach(test test_run test_run_limits test_sets test_sets_categories)
  openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c LINK openpla_run)
  add_dependencies(${test} run_test_host)
  if(WIN32)
    add_dependencies(${test} openpdh)
  endif()
endforeach()
# System sets write below one folder of the machine, whichever store counts their runs.
set_tests_properties(test_sets_categories PROPERTIES RESOURCE_LOCK system_sets)
