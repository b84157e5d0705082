# SPDX-License-Identifier: MIT
# The sessions of these tests have real session host processes.
set(with_hosts test_etw_autologger test_etw_controller test_etw_crowd test_etw_delivery test_etw_enable test_etw_kernel
  test_etw_modes test_etw_host_ends test_etw_private test_etw_private_faults test_etw_provider_kills test_etw_live)
if(WIN32)
  list(APPEND with_hosts test_etw_rights)
else()
  list(APPEND with_hosts test_etw_full_disk)
endif()
set(tests test_api_trace test_tdh_event_api test_tdh_provider_api test_trace_stacks)
foreach(thing providers session session_file lies clock properties directory directory_processes query injection write callback
    items join classic classic_decoded consumer event_view realtime relogger)
  list(APPEND tests test_etw_${thing})
endforeach()
if(WIN32)
  list(APPEND tests test_etw_bad_pointers test_etw_security)
else()
  list(APPEND tests test_etw_directory_lies test_etw_directory_kills)
endif()
openpla_tests(tests_etw TESTS ${tests} ${with_hosts} NAMED test_etw_private test_etw_private_faults
  WITH ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c
  LINK openpla_etw openpla_decode)
foreach(test ${with_hosts})
  add_dependencies(${test} openetwhost)
endforeach()
# tests/fault starts this program too.
openpla_test(test_etw_hosts ${CMAKE_CURRENT_LIST_DIR}/hosts/test_etw_hosts.c LINK openpla_etw)
add_dependencies(test_etw_hosts openetwhost)
openpla_test(test_etw_races ${CMAKE_CURRENT_LIST_DIR}/hosts/test_etw_races.c LINK openpla_etw)
set(races_options -Wl,--wrap=thread_yield,--wrap=thread_sleep_us,--wrap=clock_ticks)
target_link_options(test_etw_races PRIVATE ${races_options})
set_tests_properties(test_etw_kernel PROPERTIES RESOURCE_LOCK tracefs)
if(NOT WIN32)
  # SESSION_STEPS compiles in the steps of the protocol at which the tests interrupt their processes.
  openpla_test(test_etw_kills ${CMAKE_CURRENT_LIST_DIR}/hosts/test_etw_kills.c
    ${CMAKE_SOURCE_DIR}/engine/etw/session/session_reserve.c LINK openpla_etw)
  target_compile_definitions(test_etw_kills PRIVATE SESSION_STEPS)
  openpla_test(test_etw_waits ${CMAKE_CURRENT_LIST_DIR}/hosts/test_etw_waits.c
    ${CMAKE_SOURCE_DIR}/engine/etw/session/session_reserve.c LINK openpla_etw)
  target_compile_definitions(test_etw_waits PRIVATE SESSION_STEPS)
endif()
if(OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  # The same tests with the thread sanitizer, which cannot be combined with the address sanitizer.
  set(sources)
  foreach(layer kernel etw)
    set(target openpla_${layer})
    if(TARGET ${target}_core)
      set(target ${target}_core)
    endif()
    get_target_property(files ${target} SOURCES)
    list(APPEND sources ${files})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/definitions_api\\.c$") # needs all of TDH; see tsan_definitions.c
  foreach(file event_schema event_values payload_filter source_text value_text wpp/tmf_text) # for payload filters
    list(APPEND sources ${CMAKE_SOURCE_DIR}/engine/etw/decode/${file}.c)
  endforeach()
  add_library(openpla_etw_tsan STATIC EXCLUDE_FROM_ALL ${sources} ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c
    ${CMAKE_CURRENT_LIST_DIR}/tsan_definitions.c)
  openpla_tsan_library(openpla_etw_tsan)
  # The session host process is built with the thread sanitizer too. The tests find it in their own folder.
  add_executable(openetwhost_tsan ${CMAKE_SOURCE_DIR}/engine/etw/dll/openetwhost.c)
  target_link_libraries(openetwhost_tsan PRIVATE openpla_etw_tsan)
  set_target_properties(openetwhost_tsan PROPERTIES OUTPUT_NAME openetwhost
    RUNTIME_OUTPUT_DIRECTORY ${OPENPLA_BIN_DIR}/tsan)
  # The session host process reads the words of a buffer that writers may still be filling, so these reads race by
  # design. The thread sanitizer cannot check buffers that the threads of one process share with a host in another
  # process: it does not see how that process orders the accesses.
  set(looks ${CMAKE_CURRENT_BINARY_DIR}/etw_session.suppressions)
  file(WRITE ${looks} "race:session_unclosed_end\n")
  set(tests)
  foreach(thing session realtime directory join controller live callback)
    list(APPEND tests test_etw_${thing})
  endforeach()
  openpla_tsan_tests(tests_etw_tsan openpla_etw_tsan TESTS ${tests}
    ONLY test_etw_realtime events_of_a_session_come_while_it_runs)
  openpla_tsan_tests(tests_etw_races_tsan openpla_etw_tsan TESTS test_etw_races)
  foreach(test ${tests} test_etw_races)
    add_dependencies(${test}_tsan openetwhost_tsan)
    set_property(TEST ${test}.tsan APPEND PROPERTY
      ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0:suppressions=${looks}")
  endforeach()
  target_link_options(tests_etw_races_tsan PRIVATE ${races_options})
endif()
if(TARGET openetw)
  openpla_test(test_etw_dll ${CMAKE_CURRENT_LIST_DIR}/test_etw_dll.c)
  add_dependencies(test_etw_dll openetw)
  openpla_test(test_etw_relogger_com ${CMAKE_CURRENT_LIST_DIR}/consumer/test_etw_relogger_com.c
    ${CMAKE_CURRENT_LIST_DIR}/consumer/relogger_log.c ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c LINK openpla_etw oleaut32)
  add_dependencies(test_etw_relogger_com openetw)
  add_library(unloading_provider SHARED ${CMAKE_CURRENT_LIST_DIR}/unloading_provider.c)
  set_target_properties(unloading_provider PROPERTIES PREFIX "")
  target_link_libraries(unloading_provider PRIVATE openetw openpla_flags)
  openpla_test(test_etw_unload ${CMAKE_CURRENT_LIST_DIR}/test_etw_unload.c LINK openetw openpla_logs)
  add_dependencies(test_etw_unload unloading_provider openetwhost)
endif()
# The check fails if the prototypes in MinGW's headers have changed.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME api_signatures COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_SOURCE_DIR}/engine/etw/api_trace/signatures.py --check)
openpla_test_properties(api_signatures)
