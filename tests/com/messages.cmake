# SPDX-License-Identifier: MIT
openpla_test(test_messages ${CMAKE_CURRENT_LIST_DIR}/test_messages.c)
add_dependencies(test_messages openpla openpdh)
