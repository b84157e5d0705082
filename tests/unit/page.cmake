# SPDX-License-Identifier: MIT
openpla_test(test_page ${CMAKE_CURRENT_LIST_DIR}/test_page.c LINK openpla_page)
openpla_test(test_page_memory ${CMAKE_CURRENT_LIST_DIR}/test_page_memory.c LINK openpla_page)
