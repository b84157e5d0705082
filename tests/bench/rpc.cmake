# SPDX-License-Identifier: MIT
if(NOT WIN32)
  add_executable(bench_dcom EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_dcom.c)
  target_link_libraries(bench_dcom PRIVATE openpla_rpc openpla_flags)
endif()
