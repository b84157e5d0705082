# SPDX-License-Identifier: MIT
openpla_test(test_etw_providers ${CMAKE_CURRENT_LIST_DIR}/test_etw_providers.c LINK openpla_etw)
foreach(thing session session_file lies clock properties directory directory_processes query reach)
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c LINK openpla_etw)
endforeach()
foreach(thing write callback items join classic races) # providers
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c LINK openpla_etw)
endforeach()
set(races_options -Wl,--wrap=thread_give_way,--wrap=thread_sleep_us)
target_link_options(test_etw_races PRIVATE ${races_options})
openpla_test(test_etw_classic_decoded ${CMAKE_CURRENT_LIST_DIR}/test_etw_classic_decoded.c LINK openpla_etw openpla_decode)
foreach(thing consumer event_view realtime relogger)
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c
    ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c LINK openpla_etw)
endforeach()
# The hosts of their sessions are real ones.
foreach(thing autologger controller crowd delivery enable hosts kernel modes host_ends private private_faults
    provider_kills live)
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c LINK openpla_etw)
  add_dependencies(test_etw_${thing} openetwhost)
endforeach()
set_tests_properties(test_etw_kernel PROPERTIES RESOURCE_LOCK tracefs)
if(WIN32)
  openpla_test(test_etw_bad_pointers ${CMAKE_CURRENT_LIST_DIR}/test_etw_bad_pointers.c LINK openpla_etw)
  openpla_test(test_etw_security ${CMAKE_CURRENT_LIST_DIR}/test_etw_security.c LINK openpla_etw)
  openpla_test(test_etw_rights ${CMAKE_CURRENT_LIST_DIR}/test_etw_rights.c LINK openpla_etw)
  add_dependencies(test_etw_rights openetwhost)
endif()
if(NOT WIN32)
  # With the protocol's steps, at which the test ends its processes.
  openpla_test(test_etw_kills ${CMAKE_CURRENT_LIST_DIR}/test_etw_kills.c
    ${CMAKE_SOURCE_DIR}/engine/etw/session/session_reserve.c LINK openpla_etw)
  target_compile_definitions(test_etw_kills PRIVATE SESSION_STEPS)
  openpla_test(test_etw_waits ${CMAKE_CURRENT_LIST_DIR}/test_etw_waits.c
    ${CMAKE_SOURCE_DIR}/engine/etw/session/session_reserve.c LINK openpla_etw)
  target_compile_definitions(test_etw_waits PRIVATE SESSION_STEPS)
  openpla_test(test_etw_full_disk ${CMAKE_CURRENT_LIST_DIR}/test_etw_full_disk.c LINK openpla_etw)
  add_dependencies(test_etw_full_disk openetwhost)
  openpla_test(test_etw_directory_lies ${CMAKE_CURRENT_LIST_DIR}/test_etw_directory_lies.c LINK openpla_etw)
  openpla_test(test_etw_directory_kills ${CMAKE_CURRENT_LIST_DIR}/test_etw_directory_kills.c LINK openpla_etw)
endif()
if(OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  # Once more under the thread sanitizer, which cannot be together with the address sanitizer.
  set(sources)
  foreach(layer base logs kernel etw)
    set(target openpla_${layer})
    if(TARGET ${target}_core)
      set(target ${target}_core)
    endif()
    get_target_property(files ${target} SOURCES)
    list(APPEND sources ${files})
  endforeach()
  foreach(file event_schema event_values payload_filter source_text wpp/tmf_items wpp/tmf_text value_extent value_forms
      value_text) # of payload filters
    list(APPEND sources ${CMAKE_SOURCE_DIR}/engine/etw/decode/${file}.c)
  endforeach()
  add_library(openpla_etw_tsan STATIC EXCLUDE_FROM_ALL ${sources} ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c
    ${CMAKE_CURRENT_LIST_DIR}/tsan_join.c)
  target_include_directories(openpla_etw_tsan PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_definitions(openpla_etw_tsan PUBLIC _GNU_SOURCE)
  target_compile_options(openpla_etw_tsan PUBLIC -fsanitize=thread -O1 -Wall -Wextra)
  target_link_options(openpla_etw_tsan PUBLIC -fsanitize=thread -Wl,--wrap=pthread_clockjoin_np)
  target_link_libraries(openpla_etw_tsan PUBLIC cmocka::cmocka pthread m ${CMAKE_DL_LIBS})
  # The tests find hosts that are under it, too, in their own folder.
  add_executable(openetwhost_tsan ${CMAKE_SOURCE_DIR}/engine/etw/dll/openetwhost.c)
  target_link_libraries(openetwhost_tsan PRIVATE openpla_etw_tsan)
  set_target_properties(openetwhost_tsan PROPERTIES OUTPUT_NAME openetwhost
    RUNTIME_OUTPUT_DIRECTORY ${OPENPLA_BIN_DIR}/tsan)
  # The host looks, word by word, at a buffer that may be being filled, to leave it alone if it is. Threads that share
  # buffers whose host is another process are beyond it: it does not see that process' part of their order.
  set(looks ${CMAKE_CURRENT_BINARY_DIR}/etw_session.suppressions)
  file(WRITE ${looks} "race:session_unclosed_end\n")
  foreach(thing session realtime races directory join controller live callback)
    add_executable(test_etw_${thing}_tsan ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c)
    target_link_libraries(test_etw_${thing}_tsan PRIVATE openpla_etw_tsan)
    set_target_properties(test_etw_${thing}_tsan PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${OPENPLA_BIN_DIR}/tsan)
    add_dependencies(test_etw_${thing}_tsan openetwhost_tsan)
    add_test(NAME test_etw_${thing}.tsan
      COMMAND test_etw_${thing}_tsan $<$<STREQUAL:${thing},realtime>:events_of_a_session_come_while_it_runs>)
    openpla_test_properties(test_etw_${thing}.tsan)
    set_property(TEST test_etw_${thing}.tsan APPEND PROPERTY
      ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0:suppressions=${looks}")
  endforeach()
  target_link_options(test_etw_races_tsan PRIVATE ${races_options})
endif()
if(TARGET openetw)
  openpla_test(test_etw_dll ${CMAKE_CURRENT_LIST_DIR}/test_etw_dll.c)
  add_dependencies(test_etw_dll openetw)
  openpla_test(test_etw_relogger_com ${CMAKE_CURRENT_LIST_DIR}/test_etw_relogger_com.c
    ${CMAKE_CURRENT_LIST_DIR}/relogger_log.c ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c LINK openpla_etw oleaut32)
  add_dependencies(test_etw_relogger_com openetw)
  add_library(unloading_provider SHARED ${CMAKE_CURRENT_LIST_DIR}/unloading_provider.c)
  set_target_properties(unloading_provider PROPERTIES PREFIX "")
  target_link_libraries(unloading_provider PRIVATE openetw openpla_flags)
  openpla_test(test_etw_unload ${CMAKE_CURRENT_LIST_DIR}/test_etw_unload.c LINK openetw openpla_logs)
  add_dependencies(test_etw_unload unloading_provider openetwhost)
endif()
