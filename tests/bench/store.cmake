# SPDX-License-Identifier: MIT
add_executable(bench_store EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_store.c)
target_link_libraries(bench_store PRIVATE openpla_store openpla_flags)
