# SPDX-License-Identifier: MIT
if(OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang)
  # The tests of the collecting code with the thread sanitizer, which cannot be combined with the address sanitizer.
  set(sources)
  foreach(layer perflib pdh pdh_remote)
    get_target_property(files openpla_${layer} SOURCES)
    list(APPEND sources ${files})
  endforeach()
  # test_pcq_late tests the threads that query other computers.
  set(tests test_pdh_threads test_pdh_source test_pdh_api test_pcq_late)
  openpla_tsan_tests(tests_pdh_tsan openpla_pdh_tsan TESTS ${tests} WITH ${CMAKE_SOURCE_DIR}/tests/unit/pdh/pcq/pcq_loopback.c)
  set_property(TEST test_pcq_late.tsan APPEND PROPERTY ENVIRONMENT OPENPLA_SAMPLE_LIMIT=300)
  add_library(openpla_pdh_tsan STATIC ${sources})
  target_link_options(openpla_pdh_tsan PUBLIC -Wl,-u,openpdh_api)
  openpla_tsan_library(openpla_pdh_tsan)
endif()
