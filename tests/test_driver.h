/* SPDX-License-Identifier: MIT */
/* A program with several tests or fuzz targets (openpla_driver in cmake/Testing.cmake). There is a hard link to it for
   each test, and it runs the test whose link was started. So each test still has a separate process and program name,
   and can start itself with argv[0]. */
#ifndef OPENPLA_TEST_DRIVER_H
#define OPENPLA_TEST_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int driven_main(int argc, char **argv);
typedef int driven_input(const uint8_t *data, size_t size);

/* CMake generates these tables. A program has only one of the two tables of functions. */
extern const char *const driven_names[];
extern driven_main *const driven_mains[];
extern driven_input *const driven_inputs[];
extern const size_t driven_count;

/* Returns the table row of the test that argv[0] names. Exits if it names none. */
static inline size_t driven_row(const char *program)
{
    const char *name = program;
    for (const char *at = program; *at; at++)
        if (*at == '/' || *at == '\\')
            name = at + 1;
    const char *dot = strchr(name, '.');
    const size_t size = dot ? (size_t)(dot - name) : strlen(name);
    for (size_t i = 0; i < driven_count; i++)
        if (strlen(driven_names[i]) == size && strncmp(driven_names[i], name, size) == 0)
            return i;
    fprintf(stderr, "%s runs the test whose name it is started by:\n", program);
    for (size_t i = 0; i < driven_count; i++)
        fprintf(stderr, "  %s\n", driven_names[i]);
    exit(EXIT_FAILURE);
}

#endif
