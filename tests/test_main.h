/* SPDX-License-Identifier: MIT */
/* Included before the source of a test that shares its program with others (openpla_tests in cmake/Testing.cmake): the
   test's main becomes the function TEST_MAIN(int, char **), even if it was written without parameters. This file has
   only directives, because a precompiled header is included after it. */
/* clang-format off */
#define TEST_MAIN_OF_NONE(none)                                                                                        \
    TEST_MAIN(int, char **);                                                                                           \
    int TEST_MAIN(int test_count __attribute__((unused)), char **test_arguments __attribute__((unused)))
#define TEST_MAIN_OF_TWO(count, arguments)                                                                             \
    TEST_MAIN(int, char **);                                                                                           \
    int TEST_MAIN(count, arguments)
/* clang-format on */
#define TEST_MAIN_OF(first, second, chosen, ...) chosen
#define main(...)                                TEST_MAIN_OF(__VA_ARGS__, TEST_MAIN_OF_TWO, TEST_MAIN_OF_NONE, )(__VA_ARGS__)
