# SPDX-License-Identifier: MIT
openpla_test(test_task_entry ${CMAKE_CURRENT_LIST_DIR}/test_task_entry.c LINK ole32 oleaut32)
add_dependencies(test_task_entry openpla)
