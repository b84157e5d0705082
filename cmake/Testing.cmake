# SPDX-License-Identifier: MIT
# openpla_test(NAME SOURCES... [LINK libraries...] [NEEDS_SERVER]): a cmocka program tests/<..>/NAME.
# openpla_fuzz(NAME SOURCE LINK libraries... [SEEDS folder]): a libFuzzer target and its smoke run (native sanitizer
# build only), which begins with the samples of that folder (tests/fuzz/make_corpus.c).

# Seconds. It ends only what hangs: waits have a limit of their own (tests/unit/patience.h), and a busy machine reaches
# neither.
set(OPENPLA_TEST_TIMEOUT 1800)
set(OPENPLA_TEST_PREFIX ${CMAKE_BINARY_DIR}/wineprefix CACHE PATH "Wine prefix of the tests")
set(OPENPLA_TEST_ENVIRONMENT "OPENPLA_SOURCE_DIR=${CMAKE_SOURCE_DIR};OPENPLA_BIN_DIR=${CMAKE_BINARY_DIR}/bin")
# A data source for unixODBC, which Wine's ODBC passes every call on to. Services and servers have the environment of
# what starts them, so it is there for all.
set(OPENPLA_TEST_DSN_DATABASE ${CMAKE_BINARY_DIR}/data_source.db)
file(GLOB sqlite_driver /usr/lib/*/odbc/libsqlite3odbc.so)
file(WRITE ${CMAKE_BINARY_DIR}/odbc.ini "[openpla_test]\nDriver=SQLite3\nDatabase=${OPENPLA_TEST_DSN_DATABASE}\n"
  "[openpla_test_driver_path]\nDriver=${sqlite_driver}\nDatabase=${OPENPLA_TEST_DSN_DATABASE}\n")
list(APPEND OPENPLA_TEST_ENVIRONMENT "ODBCINI=${CMAKE_BINARY_DIR}/odbc.ini")
# Another prefix is for tests that end Wine, kill the server or need it for themselves: they run beside all others, one at
# a time (openpla_test_apart).
set(OPENPLA_TEST_PREFIX_APART ${CMAKE_BINARY_DIR}/wineprefix_apart)
if(CMAKE_CROSSCOMPILING)
  list(APPEND OPENPLA_TEST_ENVIRONMENT "OPENPLA_WINE_TEMPLATE=${OPENPLA_TEST_PREFIX}.template")
  set(prefix_environment ${OPENPLA_TEST_ENVIRONMENT} "WINEPREFIX=${OPENPLA_TEST_PREFIX_APART}")
  list(APPEND OPENPLA_TEST_ENVIRONMENT "WINEPREFIX=${OPENPLA_TEST_PREFIX}")
  foreach(step setup cleanup)
    foreach(wine wine wine_apart)
      add_test(NAME ${wine}.${step} COMMAND ${CMAKE_SOURCE_DIR}/cmake/wine-prefix.sh ${step})
      set_tests_properties(${wine}.${step} PROPERTIES TIMEOUT ${OPENPLA_TEST_TIMEOUT})
    endforeach()
    set_tests_properties(wine.${step} PROPERTIES ENVIRONMENT "${OPENPLA_TEST_ENVIRONMENT}")
    set_tests_properties(wine_apart.${step} PROPERTIES ENVIRONMENT "${prefix_environment}")
  endforeach()
  foreach(wine wine wine_apart)
    set_tests_properties(${wine}.setup PROPERTIES FIXTURES_SETUP ${wine})
    set_tests_properties(${wine}.cleanup PROPERTIES FIXTURES_CLEANUP ${wine})
  endforeach()
  set_tests_properties(wine_apart.setup PROPERTIES DEPENDS wine.setup) # a copy of it
endif()

function(openpla_test_properties name)
  # After a group's teardown that failed cmocka ends with 0.
  set_tests_properties(${name} PROPERTIES TIMEOUT ${OPENPLA_TEST_TIMEOUT} SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION
    "FAILED  \\] GROUP TEARDOWN" ENVIRONMENT "${OPENPLA_TEST_ENVIRONMENT}")
  if(CMAKE_CROSSCOMPILING)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED "wine${ARGN}")
  endif()
endfunction()

# openpla_test_apart(NAMES...): what openpla_test_properties has put into the prefix of all goes into the other one. One
# behind the other they take longest, so they begin first.
function(openpla_test_apart)
  foreach(name ${ARGN})
    get_test_property(${name} ENVIRONMENT environment)
    list(TRANSFORM environment REPLACE "^WINEPREFIX=.*" "WINEPREFIX=${OPENPLA_TEST_PREFIX_APART}")
    get_test_property(${name} FIXTURES_REQUIRED fixtures)
    list(TRANSFORM fixtures REPLACE "^(wine|server)$" "\\1_apart")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" FIXTURES_REQUIRED "${fixtures}"
      RESOURCE_LOCK wine_apart COST 1000)
  endforeach()
endfunction()

function(openpla_test name)
  cmake_parse_arguments(a "NEEDS_SERVER" "" "LINK" ${ARGN})
  add_executable(${name} ${a_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${a_LINK} cmocka::cmocka openpla_flags)
  add_test(NAME ${name} COMMAND ${name})
  if(a_NEEDS_SERVER)
    openpla_test_properties(${name} ";server")
  else()
    openpla_test_properties(${name})
  endif()
endfunction()

function(openpla_fuzz name)
  if(NOT (OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang))
    return()
  endif()
  cmake_parse_arguments(a "" "SEEDS;RUNS" "LINK" ${ARGN})
  if(NOT a_RUNS)
    set(a_RUNS 20000)
  endif()
  add_executable(${name} ${a_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${a_LINK} openpla_flags)
  if(a_SEEDS)
    set(seeds -seed_inputs=@${CMAKE_BINARY_DIR}/corpus/${a_SEEDS}.seeds)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${a_SEEDS}.dict)
      list(APPEND seeds -dict=${CMAKE_CURRENT_SOURCE_DIR}/${a_SEEDS}.dict)
    endif()
    add_dependencies(${name} fuzz_corpus)
  endif()
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME ${name}.smoke COMMAND ${name} -runs=${a_RUNS} -max_total_time=6 -max_len=2048
    ${seeds} -error_exitcode=1) # its own, 77, would count as skipped
  openpla_test_properties(${name}.smoke)
endfunction()
