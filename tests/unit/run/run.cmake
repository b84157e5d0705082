# SPDX-License-Identifier: MIT
# The set host process of these runs is a test program. Under Wine it loads openpdh.dll from its own folder.
add_executable(run_test_host ${CMAKE_CURRENT_LIST_DIR}/run_test_host.c ${CMAKE_CURRENT_LIST_DIR}/fake_kinds.c)
target_link_libraries(run_test_host PRIVATE openpla_run openpla_flags)
target_link_options(run_test_host PRIVATE -Wl,--wrap=collector_open,--wrap=collector_sample,--wrap=start_report_await)
foreach(test test_credentials test_supervisor)
  openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/sets/${test}.c ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c LINK openpla_run)
  add_dependencies(${test} run_test_host)
  if(WIN32)
    add_dependencies(${test} openpdh)
  endif()
endforeach()
target_link_options(test_credentials PRIVATE -Wl,--wrap=set_access_check_create,--wrap=set_access_check_change)
target_link_options(test_supervisor PRIVATE -Wl,--wrap=clock_utc -Wl,--wrap=clock_monotonic_ms
  -Wl,--wrap=file_load,--wrap=file_load_trusted)
# These tests use real sessions and the registry keys of autologgers.
if(WIN32)
  openpla_tests(tests_session_sets TESTS test_session_sets test_autosession_sets LINK openpla_run)
  # The journal writes to the system's event log through functions of advapi32. The functions of our event provider API
  # have the same names.
  target_link_options(tests_session_sets PRIVATE -Wl,--allow-multiple-definition)
  add_dependencies(tests_session_sets openetw openetwhost)
endif()
# This set host process uses real sessions and the real kinds of data collectors.
add_executable(trace_test_host ${CMAKE_CURRENT_LIST_DIR}/run_test_host.c)
target_link_libraries(trace_test_host PRIVATE openpla_run openpla_flags)
target_link_options(trace_test_host PRIVATE -Wl,--wrap=collector_open,--wrap=collector_sample,--wrap=start_report_await)
# API tracing exists only for Windows programs. The set host process injects the DLL from its own folder.
if(WIN32)
  add_executable(api_target ${CMAKE_CURRENT_LIST_DIR}/api_target.c)
  target_link_libraries(api_target PRIVATE gdi32 openpla_flags)
  openpla_test(test_run_api ${CMAKE_CURRENT_LIST_DIR}/test_run_api.c ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c
    LINK openpla_run)
  add_dependencies(test_run_api trace_test_host openetw openetwhost openapitrace api_target)
  set_tests_properties(test_run_api PROPERTIES RESOURCE_LOCK api_target)
endif()
set(pdh_of_test ${CMAKE_SOURCE_DIR}/tests/unit/collect/fake_pdh.c)
if(WIN32)
  unset(pdh_of_test)
endif()
openpla_test(test_alert_crossings ${CMAKE_CURRENT_LIST_DIR}/test_alert_crossings.c
  ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c ${pdh_of_test} LINK openpla_run)
add_dependencies(test_alert_crossings run_test_host)
if(WIN32)
  add_dependencies(test_alert_crossings openpdh extension_dll)
  set_tests_properties(test_alert_crossings PROPERTIES RESOURCE_LOCK registry)
endif()
# These tests need no set host process, or a different one.
set(tests test_run_schedule test_next_start test_kept_definitions test_run_phase test_settings test_store_check
  test_store_protection test_run_state test_run test_run_folders test_run_kinds test_run_limits test_run_planted
  test_run_requests test_run_rules test_run_tasks test_run_timeouts test_corrupt_sets test_set_access test_sets
  test_sets_categories test_set_statuses test_run_alert test_run_configuration test_run_export test_run_trace test_run_trace_log test_data_manager)
# These tests run the code of the set host process in their own process, and inject faults into one thread. Only in
# native builds can each call fail in turn.
if(NOT WIN32)
  list(APPEND tests test_run_faults test_credential_faults test_session_sets test_autosession_sets)
endif()
openpla_tests(tests_run TESTS ${tests} NAMED test_run_planted WITH ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c
  LINK openpla_store_check openpla_run)
target_link_options(tests_run PRIVATE -Wl,--wrap=clock_monotonic_ms) # test_data_manager simulates hours
add_dependencies(tests_run run_test_host trace_test_host openetwhost)
if(WIN32)
  add_dependencies(tests_run openpdh)
endif()
# All System sets of a computer write below one folder, even if different stores count their runs.
set_tests_properties(test_sets_categories PROPERTIES RESOURCE_LOCK system_sets)
# These tests wait for a minute. A high cost starts them early, so that the others run in the meantime.
set_tests_properties(test_supervisor test_run_limits test_run_requests PROPERTIES COST 100)
# Attacks in docs/user/security.md that need the parts of a run: objects that other processes plant for a set host
# process, and reused process ids.
set_property(TEST test_run_planted APPEND PROPERTY LABELS attack)
