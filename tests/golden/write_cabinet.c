/* SPDX-License-Identifier: MIT */
/* write_cabinet FOLDER CABINET: the cabinet of all files of a folder, for cabinet_check.py. */
#include "engine/base/clock.h"
#include "tests/unit/folder_cabinet.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct texts names = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: write_cabinet FOLDER CABINET\n");
        return 2;
    }
    const uint64_t began = clock_monotonic_ms();
    HRESULT hr = folder_cabinet_names(argv[1], "", &names);
    if (SUCCEEDED(hr))
        hr = folder_cabinet_write(argv[1], &names, argv[2], NULL);
    if (SUCCEEDED(hr))
        printf("%llu files, %llu ms\n", (unsigned long long)names.count,
               (unsigned long long)(clock_monotonic_ms() - began));
    else
        fprintf(stderr, "write_cabinet: 0x%08X %s\n", (unsigned)hr, error_text(hr));
    texts_free(&names);
    return FAILED(hr);
}
