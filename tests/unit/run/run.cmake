# SPDX-License-Identifier: MIT
# The host of these runs is a program of the tests; under Wine it finds openpdh.dll beside itself.
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
# With real sessions, and the keys of autologgers.
if(WIN32)
  openpla_tests(tests_session_sets TESTS test_session_sets test_autosession_sets LINK openpla_run)
  # The journal writes to the system's event log by advapi32's functions, whose names are those of the provider here.
  target_link_options(tests_session_sets PRIVATE -Wl,--allow-multiple-definition)
  add_dependencies(tests_session_sets openetw openetwhost)
endif()
# With real sessions, by a host that has the real kinds of collectors.
add_executable(trace_test_host ${CMAKE_CURRENT_LIST_DIR}/run_test_host.c)
target_link_libraries(trace_test_host PRIVATE openpla_run openpla_flags)
target_link_options(trace_test_host PRIVATE -Wl,--wrap=collector_open,--wrap=collector_sample,--wrap=start_report_await)
# API tracing is of Windows programs; the host injects the DLL that lies beside it.
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
# With hosts of their own or none.
set(tests test_run_schedule test_next_start test_kept_definitions test_run_phase test_settings test_store_check
  test_store_protection test_run_state test_run test_run_folders test_run_kinds test_run_limits test_run_planted
  test_run_requests test_run_rules test_run_tasks test_run_timeouts test_corrupt_sets test_set_access test_sets
  test_sets_categories test_set_statuses test_run_alert test_run_configuration test_run_export test_run_trace test_run_trace_log test_data_manager)
# In a process of the host's kind, by faults that one thread has: natively, where each call can be had in turn.
if(NOT WIN32)
  list(APPEND tests test_run_faults test_credential_faults test_session_sets test_autosession_sets)
endif()
openpla_tests(tests_run TESTS ${tests} NAMED test_run_planted WITH ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c
  LINK openpla_store_check openpla_run)
target_link_options(tests_run PRIVATE -Wl,--wrap=clock_monotonic_ms) # hours pass where test_data_manager says so
add_dependencies(tests_run run_test_host trace_test_host openetwhost)
if(WIN32)
  add_dependencies(tests_run openpdh)
endif()
# System sets write below one folder of the machine, whichever store counts their runs.
set_tests_properties(test_sets_categories PROPERTIES RESOURCE_LOCK system_sets)
# They wait for a minute: not alone at the end.
set_tests_properties(test_supervisor test_run_limits test_run_requests PROPERTIES COST 100)
# Attacks of docs/user/security.md that need a run's parts: what others plant for a host, ids that are used again.
set_property(TEST test_run_planted APPEND PROPERTY LABELS attack)
