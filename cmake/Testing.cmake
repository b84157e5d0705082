# SPDX-License-Identifier: MIT
# openpla_tests(DRIVER TESTS names... [NAMED names...] [WITH sources...] LINK libraries...): builds the cmocka tests
# NAME.c of the caller's folder and its subfolders as one program, because one program per test would take minutes to
# link and a gigabyte of disk. See tests/test_driver.h. Each test program is a hard link to that program. Under Wine,
# all processes of one file have the name of the link that was started first. NAMED tests check their own process name,
# so they get a copy instead.
# openpla_test(NAME SOURCES... [LINK libraries...] [NEEDS_SERVER]): builds a cmocka test as a separate program, because
# it replaces library functions (--wrap) or because other tests start it.
# openpla_fuzz(NAME SOURCES... LINK libraries... [SEEDS folder] [RUNS count] [ALONE]): builds a libFuzzer target and
# adds its smoke test (native sanitizer build only). The smoke test starts with the samples in that folder
# (tests/fuzz/decode/make_corpus.c).

# In seconds. This timeout ends only tests that hang: each wait within a test has a shorter limit
# (tests/unit/patience.h). Even on a busy machine, no test reaches its limits or this timeout.
set(OPENPLA_TEST_TIMEOUT 1800)
set(OPENPLA_TEST_PREFIX ${CMAKE_BINARY_DIR}/wineprefix CACHE PATH "Wine prefix of the tests")
set(OPENPLA_TEST_ENVIRONMENT "OPENPLA_SOURCE_DIR=${CMAKE_SOURCE_DIR};OPENPLA_BIN_DIR=${CMAKE_BINARY_DIR}/bin")
# A data source for unixODBC, to which Wine's ODBC forwards every call. All tests get the variable, because services and
# servers inherit the environment of the test that starts them.
set(OPENPLA_TEST_DSN_DATABASE ${CMAKE_BINARY_DIR}/data_source.db)
file(GLOB sqlite_driver /usr/lib/*/odbc/libsqlite3odbc.so)
file(WRITE ${CMAKE_BINARY_DIR}/odbc.ini "[openpla_test]\nDriver=SQLite3\nDatabase=${OPENPLA_TEST_DSN_DATABASE}\n"
  "[openpla_test_driver_path]\nDriver=${sqlite_driver}\nDatabase=${OPENPLA_TEST_DSN_DATABASE}\n")
list(APPEND OPENPLA_TEST_ENVIRONMENT "ODBCINI=${CMAKE_BINARY_DIR}/odbc.ini")
# A second prefix for tests that end Wine, kill the server or need the prefix for themselves. These tests run one at a
# time, in parallel with the tests of the first prefix (openpla_test_apart).
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
  set_tests_properties(wine_apart.setup PROPERTIES DEPENDS wine.setup) # the second prefix is a copy of the first
endif()

function(openpla_test_properties name)
  # cmocka exits with 0 after a failed group teardown.
  set_tests_properties(${name} PROPERTIES TIMEOUT ${OPENPLA_TEST_TIMEOUT} SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION
    "FAILED  \\] GROUP TEARDOWN" ENVIRONMENT "${OPENPLA_TEST_ENVIRONMENT}")
  if(CMAKE_CROSSCOMPILING)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED "wine${ARGN}")
  endif()
endfunction()

# openpla_test_apart(NAMES...): moves tests that openpla_test_properties assigned to the first prefix to the second one.
# Because they run one after another, they take the longest, so they are started first.
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

# openpla_driver(DRIVER main|input MAIN SUFFIX FOLDER NAMES...): builds a program from MAIN, the objects
# NAMESUFFIX_object and a table of their functions NAME_main or NAME_input, and links it as FOLDER/NAMESUFFIX for each
# name (tests/test_driver.h).
function(openpla_driver driver kind main suffix folder)
  set(declarations "")
  set(names "")
  set(functions "")
  set(objects "")
  set(links "")
  set(programs "")
  foreach(name ${ARGN})
    string(APPEND declarations "driven_${kind} ${name}_${kind};\n")
    string(APPEND names "    \"${name}${suffix}\",\n")
    string(APPEND functions "    ${name}_${kind},\n")
    list(APPEND objects $<TARGET_OBJECTS:${name}${suffix}_object>)
    set(program ${folder}/${name}${suffix}${CMAKE_EXECUTABLE_SUFFIX})
    list(APPEND programs ${program})
    if(CMAKE_CROSSCOMPILING AND name IN_LIST a_NAMED)
      list(APPEND links COMMAND ${CMAKE_COMMAND} -E rm -f ${program}
        COMMAND ${CMAKE_STRIP} --strip-debug -o ${program} $<TARGET_FILE:${driver}>)
    else()
      list(APPEND links COMMAND ${CMAKE_COMMAND} -E create_hardlink $<TARGET_FILE:${driver}> ${program})
    endif()
    # Additional requirements of a test are added to the target NAMESUFFIX.
    add_custom_target(${name}${suffix})
    add_dependencies(${name}${suffix} ${driver})
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${driver}.c)
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT "/* Made by cmake/Testing.cmake. */
#include \"tests/test_driver.h\"

@declarations@
const char *const driven_names[] = {
@names@};
driven_@kind@ *const driven_@kind@s[] = {
@functions@};
const size_t driven_count = sizeof driven_names / sizeof *driven_names;
")
  add_executable(${driver} ${table} ${main} ${objects})
  target_include_directories(${driver} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${driver} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
  add_custom_command(TARGET ${driver} POST_BUILD ${links} BYPRODUCTS ${programs} VERBATIM)
endfunction()

# openpla_driven_main(TARGET NAME): builds an object library from the test NAME.c, with main renamed to NAME_main.
function(openpla_driven_main target name)
  file(GLOB source CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${name}.c ${CMAKE_CURRENT_LIST_DIR}/*/${name}.c)
  add_library(${target} OBJECT ${source})
  target_compile_options(${target} PRIVATE -DTEST_MAIN=${name}_main "SHELL:-include ${CMAKE_SOURCE_DIR}/tests/test_main.h")
endfunction()

function(openpla_tests driver)
  cmake_parse_arguments(a "" "" "TESTS;NAMED;WITH;LINK" ${ARGN})
  foreach(name ${a_TESTS})
    openpla_driven_main(${name}_object ${name})
    target_link_libraries(${name}_object PRIVATE ${a_LINK} cmocka::cmocka openpla_flags)
    add_test(NAME ${name} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${OPENPLA_BIN_DIR}/${name}${CMAKE_EXECUTABLE_SUFFIX})
    openpla_test_properties(${name})
  endforeach()
  openpla_driver(${driver} main ${CMAKE_SOURCE_DIR}/tests/test_driver.c "" ${OPENPLA_BIN_DIR} ${a_TESTS})
  target_sources(${driver} PRIVATE ${a_WITH})
  target_link_libraries(${driver} PRIVATE ${a_LINK} cmocka::cmocka openpla_flags)
endfunction()

# openpla_tsan_library(LIBRARY): builds LIBRARY with the thread sanitizer, on top of openpla_logs_tsan (base and logs),
# which all such libraries share.
function(openpla_tsan_library library)
  if(NOT TARGET openpla_logs_tsan AND NOT library STREQUAL openpla_logs_tsan)
    set(sources)
    foreach(layer base logs)
      get_target_property(files openpla_${layer} SOURCES)
      list(APPEND sources ${files})
    endforeach()
    add_library(openpla_logs_tsan STATIC EXCLUDE_FROM_ALL ${sources} ${CMAKE_SOURCE_DIR}/tests/unit/tsan_join.c)
    target_link_options(openpla_logs_tsan PUBLIC -Wl,--wrap=pthread_clockjoin_np)
    openpla_tsan_library(openpla_logs_tsan)
  endif()
  target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/settings)
  target_compile_definitions(${library} PUBLIC _GNU_SOURCE)
  target_compile_options(${library} PUBLIC -fsanitize=thread -O1 -Wall -Wextra)
  target_link_options(${library} PUBLIC -fsanitize=thread)
  if(NOT library STREQUAL openpla_logs_tsan)
    target_link_libraries(${library} PUBLIC openpla_logs_tsan)
  endif()
  target_link_libraries(${library} PUBLIC cmocka::cmocka pthread m ${CMAKE_DL_LIBS})
endfunction()

# openpla_tsan_tests(DRIVER LIBRARY TESTS names... [WITH sources...] [ONLY NAME case]): builds the tests of the caller's
# folder with the thread sanitizer, which cannot be combined with the address sanitizer. The programs are called
# NAME_tsan, the tests NAME.tsan. The test named by ONLY runs just that case. LIBRARY is built with the thread
# sanitizer.
function(openpla_tsan_tests driver library)
  cmake_parse_arguments(a "" "" "TESTS;WITH;ONLY" ${ARGN})
  set(folder ${OPENPLA_BIN_DIR}/tsan)
  foreach(test ${a_TESTS})
    openpla_driven_main(${test}_tsan_object ${test})
    target_link_libraries(${test}_tsan_object PRIVATE ${library})
    set(case)
    if(test IN_LIST a_ONLY)
      list(GET a_ONLY 1 case)
    endif()
    add_test(NAME ${test}.tsan COMMAND ${folder}/${test}_tsan ${case})
    openpla_test_properties(${test}.tsan)
  endforeach()
  openpla_driver(${driver} main ${CMAKE_SOURCE_DIR}/tests/test_driver.c _tsan ${folder} ${a_TESTS})
  target_sources(${driver} PRIVATE ${a_WITH})
  target_link_libraries(${driver} PRIVATE ${library})
endfunction()

# The fuzz targets of a library share one program, except those marked ALONE.
function(openpla_fuzz name)
  if(NOT (OPENPLA_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang))
    return()
  endif()
  cmake_parse_arguments(a "ALONE" "SEEDS;RUNS" "LINK" ${ARGN})
  if(NOT a_RUNS)
    set(a_RUNS 20000)
  endif()
  list(POP_FRONT a_UNPARSED_ARGUMENTS source)
  add_library(${name}_object OBJECT ${source})
  target_compile_options(${name}_object PRIVATE -DLLVMFuzzerTestOneInput=${name}_input -fsanitize=fuzzer)
  target_link_libraries(${name}_object PRIVATE ${a_LINK} openpla_flags)
  string(REPLACE "openpla_" "fuzzers_" driver "${a_LINK}")
  if(a_ALONE)
    set(driver fuzzers_${name})
  endif()
  get_property(drivers DIRECTORY PROPERTY fuzz_drivers)
  if(NOT drivers)
    cmake_language(DEFER CALL openpla_fuzz_drivers)
  endif()
  set_property(DIRECTORY APPEND PROPERTY fuzz_drivers ${driver})
  set_property(DIRECTORY APPEND PROPERTY ${driver}_names ${name})
  set_property(DIRECTORY APPEND PROPERTY ${driver}_sources ${a_UNPARSED_ARGUMENTS})
  set_property(DIRECTORY PROPERTY ${driver}_link ${a_LINK})
  if(a_SEEDS)
    set(seeds -seed_inputs=@${CMAKE_BINARY_DIR}/corpus/${a_SEEDS}.seeds)
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/${a_SEEDS}.dict)
      list(APPEND seeds -dict=${CMAKE_CURRENT_LIST_DIR}/${a_SEEDS}.dict)
    endif()
    add_dependencies(${name}_object fuzz_corpus)
  endif()
  set_property(GLOBAL APPEND PROPERTY openpla_fuzzed ${a_LINK})
  add_test(NAME ${name}.smoke COMMAND ${OPENPLA_BIN_DIR}/${name} -runs=${a_RUNS} -max_total_time=6 -max_len=2048
    ${seeds} -error_exitcode=1) # libFuzzer's default, 77, would count as skipped
  openpla_test_properties(${name}.smoke)
endfunction()

# openpla_cover(LIBRARIES...): compiles these libraries and the libraries they link with libFuzzer's branch counters.
# Other libraries have no counters, because the counters make code 1.5 times as large.
function(openpla_cover)
  get_property(covered GLOBAL PROPERTY openpla_covered)
  foreach(library ${ARGN})
    if(NOT TARGET ${library} OR library IN_LIST covered)
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    get_target_property(below ${library} LINK_LIBRARIES)
    if(type STREQUAL "STATIC_LIBRARY" AND "openpla_flags" IN_LIST below)
      target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
      set_property(GLOBAL APPEND PROPERTY openpla_covered ${library})
      openpla_cover(${below})
      get_property(covered GLOBAL PROPERTY openpla_covered)
    endif()
  endforeach()
endfunction()

# Runs at the end of the configuration, when all fuzz targets exist.
function(openpla_cover_fuzzed)
  get_property(fuzzed GLOBAL PROPERTY openpla_fuzzed)
  openpla_cover(${fuzzed})
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL openpla_cover_fuzzed)

# Builds the programs of the fuzz targets that this folder has declared.
function(openpla_fuzz_drivers)
  get_property(drivers DIRECTORY PROPERTY fuzz_drivers)
  list(REMOVE_DUPLICATES drivers)
  foreach(driver ${drivers})
    foreach(what names sources link)
      get_property(${what} DIRECTORY PROPERTY ${driver}_${what})
      list(REMOVE_DUPLICATES ${what})
    endforeach()
    openpla_driver(${driver} input ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_driver.c "" ${OPENPLA_BIN_DIR} ${names})
    target_sources(${driver} PRIVATE ${sources})
    target_link_libraries(${driver} PRIVATE ${link} openpla_flags)
    target_compile_options(${driver} PRIVATE -fsanitize=fuzzer)
    target_link_options(${driver} PRIVATE -fsanitize=fuzzer)
    if(NOT TARGET fuzz_targets)
      add_custom_target(fuzz_targets)
    endif()
    add_dependencies(fuzz_targets ${driver})
  endforeach()
endfunction()
