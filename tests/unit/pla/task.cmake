# SPDX-License-Identifier: MIT
openpla_test(test_task_arguments ${CMAKE_CURRENT_LIST_DIR}/test_task_arguments.c LINK openpla_task)
if(WIN32)
  target_link_libraries(test_task_arguments PRIVATE shell32)
endif()
openpla_test(test_tasks ${CMAKE_CURRENT_LIST_DIR}/test_tasks.c LINK openpla_task)
target_link_options(test_tasks PRIVATE -Wl,--wrap=host_task_scheduler)
