# SPDX-License-Identifier: MIT
openpla_test(test_cabinet_entry ${CMAKE_CURRENT_LIST_DIR}/test_cabinet_entry.c LINK openpla_base)
add_dependencies(test_cabinet_entry openpla)
