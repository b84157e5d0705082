/* SPDX-License-Identifier: MIT */
/* libFuzzer's entry points in a program with several fuzz targets. */
#include "tests/test_driver.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static driven_input *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    target = driven_inputs[driven_row(*argc > 0 ? (*argv)[0] : "")];
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return target(data, size);
}
