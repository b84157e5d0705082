/* SPDX-License-Identifier: MIT */
/* write_forms FOLDER: writes the forms of the registration into the folder. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "reg/forms/forms.h"

#include <stdio.h>
#include <string.h>

static HRESULT write_form(const struct registration_form *form, const char *folder)
{
    struct text_buffer buffer = {0};
    HRESULT hr = form->make(&buffer);
    char *text = SUCCEEDED(hr) ? text_buffer_take(&buffer) : NULL;
    char *path = path_join(folder, form->name);
    text_buffer_free(&buffer);
    if (SUCCEEDED(hr) && (!text || !path))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_store(path, text, strlen(text));
    memory_free(path);
    memory_free(text);
    return hr;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: write_forms FOLDER\n");
        return 2;
    }
    HRESULT made = folder_create(argv[1]);
    if (FAILED(made)) {
        fprintf(stderr, "write_forms: %s: %s\n", argv[1], error_text(made));
        return 1;
    }
    for (size_t i = 0; i < registration_form_count; i++) {
        HRESULT hr = write_form(&registration_forms[i], argv[1]);
        if (FAILED(hr)) {
            fprintf(stderr, "write_forms: %s: %s\n", registration_forms[i].name, error_text(hr));
            failed = 1;
        }
    }
    return failed;
}
