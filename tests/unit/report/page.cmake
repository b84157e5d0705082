# SPDX-License-Identifier: MIT
openpla_tests(tests_page TESTS test_page test_page_memory test_page_findings LINK openpla_page)
openpla_test(test_run_compare ${CMAKE_CURRENT_LIST_DIR}/test_run_compare.c LINK openpla_compare)
