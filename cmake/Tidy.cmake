# SPDX-License-Identifier: MIT
# The targets tidy and cppcheck check our own files in this build. No test runs them, because clang-tidy takes a quarter
# of an hour. Run `cmake --build --preset native-asan --target tidy cppcheck`; the preset mingw checks the files that
# exist only for Windows.
set(tidy_folder ${CMAKE_BINARY_DIR}/tidy)
file(MAKE_DIRECTORY ${tidy_folder})
if(CMAKE_CROSSCOMPILING)
  set(tidy_files "(/win32/|_(api|dll)\\.c$|/(com|reg|cli|examples)/|/tests/(cli|com|wire|script)/)")
  set(tidy_arguments -extra-arg-before=--target=x86_64-w64-mingw32)
else()
  set(tidy_files "${CMAKE_SOURCE_DIR}/(engine|cli|docs|library|tests)/")
  set(tidy_arguments)
endif()
# clang supports neither all options nor the precompiled headers of gcc.
set(gcc_alone "-Winvalid-pch -include [^ ]*cmake_pch.h|-fpch-preprocess|-m(memcpy|memset)-strategy=[^ \"]*|-Wlogical-op|-Wduplicated-cond|-Werror=override-init")
find_program(RUN_CLANG_TIDY NAMES run-clang-tidy-14 run-clang-tidy)
find_program(CPPCHECK cppcheck)
function(openpla_checker name program)
  if(program)
    add_custom_target(${name}
      COMMAND sed -E "s/${gcc_alone}//g" ${CMAKE_BINARY_DIR}/compile_commands.json > ${tidy_folder}/compile_commands.json
      COMMAND ${program} ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
  else()
    add_custom_target(${name}
      COMMAND ${CMAKE_COMMAND} -E echo "${name} needs a Debian package: apt-get install clang-tidy cppcheck"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
endfunction()
openpla_checker(tidy "${RUN_CLANG_TIDY}" -quiet -p ${tidy_folder} ${tidy_arguments}
  -extra-arg=-Wno-unknown-warning-option ${tidy_files})
# cppcheck assumes that cmocka's assertions return and that NULL is an integer, which is false for our compilers. It
# also does not track variables that are set through a pointer. It predefines no macros for the processor, and it cannot
# expand the rows of some objects' counters.
openpla_checker(cppcheck "${CPPCHECK}" --quiet --project=${tidy_folder}/compile_commands.json --inline-suppr
  --enable=warning,performance,portability --error-exitcode=1 --suppress=missingIncludeSystem
  --suppress=arrayIndexOutOfBoundsCond --suppress=varFuncNullUB --suppress=legacyUninitvar
  --suppress=unknownMacro:*/lttng_events.h --suppress=preprocessorErrorDirective:*engine/pdh/objects/object_*.c
  -D__${CMAKE_SYSTEM_PROCESSOR}__ -i${CMAKE_SOURCE_DIR}/third_party -i${CMAKE_BINARY_DIR})
