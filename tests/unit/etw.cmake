# SPDX-License-Identifier: MIT
openpla_test(test_etw_providers ${CMAKE_CURRENT_LIST_DIR}/test_etw_providers.c LINK openpla_etw)
foreach(thing session session_file lies clock properties directory directory_processes query reach)
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c LINK openpla_etw)
endforeach()
foreach(thing write callback items join classic races) # providers
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c LINK openpla_etw)
endforeach()
foreach(thing consumer event_view realtime)
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c
    ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c LINK openpla_etw)
endforeach()
# The hosts of their sessions are real ones.
foreach(thing autologger controller delivery enable hosts modes host_ends private live)
  openpla_test(test_etw_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c LINK openpla_etw)
  add_dependencies(test_etw_${thing} openetwhost)
endforeach()
if(WIN32)
  openpla_test(test_etw_security ${CMAKE_CURRENT_LIST_DIR}/test_etw_security.c LINK openpla_etw)
  openpla_test(test_etw_rights ${CMAKE_CURRENT_LIST_DIR}/test_etw_rights.c LINK openpla_etw)
  add_dependencies(test_etw_rights openetwhost)
endif()
if(NOT WIN32)
  # With the protocol's steps, at which the test ends its processes.
  openpla_test(test_etw_kills ${CMAKE_CURRENT_LIST_DIR}/test_etw_kills.c
    ${CMAKE_SOURCE_DIR}/engine/etw/session_reserve.c LINK openpla_etw)
  target_compile_definitions(test_etw_kills PRIVATE SESSION_STEPS)
  openpla_test(test_etw_directory_lies ${CMAKE_CURRENT_LIST_DIR}/test_etw_directory_lies.c LINK openpla_etw)
  openpla_test(test_etw_directory_kills ${CMAKE_CURRENT_LIST_DIR}/test_etw_directory_kills.c LINK openpla_etw)
endif()
if(OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  # Once more under the thread sanitizer, which cannot be together with the address sanitizer.
  set(sources)
  foreach(layer os log etw)
    get_target_property(files openpla_${layer} SOURCES)
    foreach(file ${files})
      list(APPEND sources ${CMAKE_SOURCE_DIR}/engine/${layer}/${file})
    endforeach()
  endforeach()
  # It does not know pthread_clockjoin_np and takes the threads that it joins for lost. And the host looks, word by word,
  # at a buffer that may be being filled, to leave it alone if it is.
  set(looks ${CMAKE_CURRENT_BINARY_DIR}/etw_session.suppressions)
  file(WRITE ${looks} "race:session_unclosed_end\n")
  foreach(thing session realtime races)
    add_executable(test_etw_${thing}_tsan ${CMAKE_CURRENT_LIST_DIR}/test_etw_${thing}.c
      ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c ${sources})
    target_include_directories(test_etw_${thing}_tsan PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_definitions(test_etw_${thing}_tsan PRIVATE _GNU_SOURCE)
    target_compile_options(test_etw_${thing}_tsan PRIVATE -fsanitize=thread -O1 -Wall -Wextra)
    target_link_options(test_etw_${thing}_tsan PRIVATE -fsanitize=thread)
    target_link_libraries(test_etw_${thing}_tsan PRIVATE cmocka::cmocka pthread m ${CMAKE_DL_LIBS})
    add_test(NAME test_etw_${thing}.tsan
      COMMAND test_etw_${thing}_tsan $<$<STREQUAL:${thing},realtime>:events_of_a_session_come_while_it_runs>)
    openpla_test_properties(test_etw_${thing}.tsan)
    set_property(TEST test_etw_${thing}.tsan APPEND PROPERTY
      ENVIRONMENT "TSAN_OPTIONS=report_thread_leaks=0:suppressions=${looks}")
  endforeach()
endif()
if(TARGET openetw)
  openpla_test(test_etw_dll ${CMAKE_CURRENT_LIST_DIR}/test_etw_dll.c)
  add_dependencies(test_etw_dll openetw)
endif()
