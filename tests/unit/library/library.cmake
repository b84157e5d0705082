# SPDX-License-Identifier: MIT
if(TARGET openpla_library)
  openpla_tests(tests_library TESTS test_library_log test_library_misuse test_library_trace LINK openpla_library)
endif()
