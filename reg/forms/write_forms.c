/* SPDX-License-Identifier: MIT */
/* write_forms FOLDER: writes the forms of the registration into the folder; with -check it compares instead, and fails
   where a file differs. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "reg/forms/forms.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

static HRESULT compare(const char *path, const char *text)
{
    char *present = NULL;
    size_t size;
    HRESULT hr = file_load(path, MOST_BYTES, &present, &size);
    if (SUCCEEDED(hr) && (size != strlen(text) || memcmp(present, text, size) != 0))
        hr = error_set(E_FAIL, "%s is stale: cmake --build build/native-asan --target generate_registration", path);
    memory_free(present);
    return hr;
}

static HRESULT write_form(const struct registration_form *form, const char *folder, bool check)
{
    struct text_buffer buffer = {0};
    HRESULT hr = form->make(&buffer);
    char *text = SUCCEEDED(hr) ? text_buffer_take(&buffer) : NULL;
    char *path = path_join(folder, form->name);
    text_buffer_free(&buffer);
    if (SUCCEEDED(hr) && (!text || !path))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = check ? compare(path, text) : file_store(path, text, strlen(text));
    memory_free(path);
    memory_free(text);
    return hr;
}

int main(int argc, char **argv)
{
    const bool check = argc == 3 && !strcmp(argv[1], "-check");
    if (argc != 2 && !check) {
        fprintf(stderr, "usage: write_forms [-check] FOLDER\n");
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < registration_form_count; i++) {
        HRESULT hr = write_form(&registration_forms[i], argv[argc - 1], check);
        if (FAILED(hr)) {
            fprintf(stderr, "write_forms: %s: %s\n", registration_forms[i].name, error_text(hr));
            failed = 1;
        }
    }
    return failed;
}
