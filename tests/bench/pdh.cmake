# SPDX-License-Identifier: MIT
add_executable(bench_pdh EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_pdh.c)
target_link_libraries(bench_pdh PRIVATE openpla_pdh openpla_flags)
