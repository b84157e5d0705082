# SPDX-License-Identifier: MIT
if(OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  # The collecting core once more under the thread sanitizer, which cannot be together with the address sanitizer.
  set(sources)
  foreach(layer base perflib logs pdh pdh_remote)
    get_target_property(files openpla_${layer} SOURCES)
    list(APPEND sources ${files})
  endforeach()
  set(tests test_pdh_threads test_pdh_source test_pdh_api test_pcq_late) # the last: other computers' threads
  openpla_tsan_tests(tests_pdh_tsan openpla_pdh_tsan TESTS ${tests} WITH ${CMAKE_CURRENT_LIST_DIR}/pcq_loopback.c)
  foreach(test ${tests})
    # It does not know pthread_clockjoin_np and takes the threads that it joins for lost.
    set_property(TEST ${test}.tsan APPEND PROPERTY ENVIRONMENT TSAN_OPTIONS=report_thread_leaks=0)
  endforeach()
  set_property(TEST test_pcq_late.tsan APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=300)
  add_library(openpla_pdh_tsan STATIC ${sources})
  target_include_directories(openpla_pdh_tsan PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/settings)
  target_compile_definitions(openpla_pdh_tsan PUBLIC _GNU_SOURCE)
  target_compile_options(openpla_pdh_tsan PUBLIC -fsanitize=thread -O1 -Wall -Wextra)
  target_link_options(openpla_pdh_tsan PUBLIC -fsanitize=thread -Wl,-u,openpdh_api)
  target_link_libraries(openpla_pdh_tsan PUBLIC cmocka::cmocka pthread m ${CMAKE_DL_LIBS})
endif()
