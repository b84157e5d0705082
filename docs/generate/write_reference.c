/* SPDX-License-Identifier: MIT */
/* write_reference TREE FOLDER: writes the pages of the reference into the folder. */
#include "docs/generate/reference.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <stdio.h>
#include <string.h>

static HRESULT write_file(const char *folder, const struct reference_file *f)
{
    char *path = path_join(folder, f->name);
    HRESULT hr = path ? file_store(path, f->text, strlen(f->text)) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

int main(int argc, char **argv)
{
    struct reference r;
    if (argc != 3) {
        fprintf(stderr, "usage: write_reference TREE FOLDER\n");
        return 2;
    }
    HRESULT hr = reference_make(argv[1], &r);
    if (SUCCEEDED(hr))
        hr = folder_create(argv[2]);
    for (size_t i = 0; SUCCEEDED(hr) && i < r.count; i++)
        hr = write_file(argv[2], &r.files[i]);
    if (FAILED(hr))
        fprintf(stderr, "write_reference: %s\n", error_text(hr));
    else
        printf("%u files in %s\n", (unsigned)r.count, argv[2]);
    reference_free(&r);
    return FAILED(hr);
}
