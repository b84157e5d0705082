# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_task_arguments ${CMAKE_CURRENT_LIST_DIR}/fuzz_task_arguments.c LINK openpla_task)
openpla_fuzz(fuzz_task_xml ${CMAKE_CURRENT_LIST_DIR}/fuzz_task_xml.c LINK openpla_task)
