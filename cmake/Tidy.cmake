# SPDX-License-Identifier: MIT
# The target tidy: clang-tidy, by .clang-tidy, over our own files that this build compiles. It takes a quarter of an
# hour and more, so no test runs it. `cmake --build --preset native-asan --target tidy`
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-14 run-clang-tidy)
if(RUN_CLANG_TIDY)
  add_custom_target(tidy
    COMMAND ${RUN_CLANG_TIDY} -quiet -p ${CMAKE_BINARY_DIR} "${CMAKE_SOURCE_DIR}/(engine|cli|docs|tests)/"
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
else()
  add_custom_target(tidy
    COMMAND ${CMAKE_COMMAND} -E echo "run-clang-tidy is not installed (Debian: apt-get install clang-tidy)."
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
