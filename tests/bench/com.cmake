# SPDX-License-Identifier: MIT
if(WIN32)
  add_executable(bench_com EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_com.c)
  target_link_libraries(bench_com PRIVATE openpla_idl ole32 oleaut32 uuid openpla_flags)
  add_dependencies(bench_com openpla)
endif()
