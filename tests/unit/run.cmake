# SPDX-License-Identifier: MIT
openpla_test(test_run_schedule ${CMAKE_CURRENT_LIST_DIR}/test_run_schedule.c LINK openpla_run)
openpla_test(test_next_start ${CMAKE_CURRENT_LIST_DIR}/test_next_start.c LINK openpla_run)
openpla_test(test_kept_definitions ${CMAKE_CURRENT_LIST_DIR}/test_kept_definitions.c LINK openpla_run)
openpla_test(test_run_phase ${CMAKE_CURRENT_LIST_DIR}/test_run_phase.c LINK openpla_run)
openpla_test(test_settings ${CMAKE_CURRENT_LIST_DIR}/test_settings.c LINK openpla_run)
openpla_test(test_run_state ${CMAKE_CURRENT_LIST_DIR}/test_run_state.c LINK openpla_run)
# The host of these runs is a program of the tests; under Wine it finds openpdh.dll beside itself.
add_executable(run_test_host ${CMAKE_CURRENT_LIST_DIR}/run_test_host.c ${CMAKE_CURRENT_LIST_DIR}/fake_kinds.c)
target_link_libraries(run_test_host PRIVATE openpla_run openpla_flags)
target_link_options(run_test_host PRIVATE -Wl,--wrap=collector_open,--wrap=collector_sample,--wrap=start_report_await)
foreach(test test_run test_run_kinds test_run_limits test_run_planted test_run_requests test_run_timeouts test_supervisor test_damaged_sets test_sets test_sets_categories)
  openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c LINK openpla_run)
  add_dependencies(${test} run_test_host)
  if(WIN32)
    add_dependencies(${test} openpdh)
  endif()
endforeach()
# System sets write below one folder of the machine, whichever store counts their runs.
set_tests_properties(test_sets_categories PROPERTIES RESOURCE_LOCK system_sets)
target_link_options(test_supervisor PRIVATE -Wl,--wrap=clock_utc -Wl,--wrap=clock_monotonic_ms
  -Wl,--wrap=file_load)
# With real sessions, and the keys of autologgers.
foreach(test test_session_sets test_autosession_sets)
  openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c LINK openpla_run)
  add_dependencies(${test} openetwhost)
  if(WIN32)
    # The journal writes to the system's event log by advapi32's functions, whose names are those of the provider here.
    target_link_options(${test} PRIVATE -Wl,--allow-multiple-definition)
    add_dependencies(${test} openetw)
  endif()
endforeach()
