# SPDX-License-Identifier: MIT
add_executable(bench_model EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_model.c)
target_link_libraries(bench_model PRIVATE openpla_run openpla_flags)
