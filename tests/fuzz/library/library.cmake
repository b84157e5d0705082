# SPDX-License-Identifier: MIT
if(TARGET openpla_library)
  openpla_fuzz(fuzz_library ${CMAKE_CURRENT_LIST_DIR}/fuzz_library.c ${CMAKE_SOURCE_DIR}/tests/fuzz/small_container.c
    LINK openpla_library)
endif()
