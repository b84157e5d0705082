/* SPDX-License-Identifier: MIT */
/* Any file is a task's definition or is rejected with an error text, and the definition's XML gives the same definition
   again. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/task.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct task_definition d, back;
    char *ignored, *xml = NULL;
    HRESULT hr = task_definition_read((const char *)data, size, &d, &ignored);
    if (FAILED(hr)) {
        expect(error_text(hr)[0] && !d.command);
        memory_free(ignored);
        return 0;
    }
    expect(d.command[0] && task_definition_write(&d, &xml) == S_OK);
    expect(task_definition_read(xml, strlen(xml), &back, NULL) == S_OK);
    expect(!strcmp(back.command, d.command) && !strcmp(back.arguments, d.arguments) &&
           !strcmp(back.directory, d.directory) && back.limit_seconds == d.limit_seconds &&
           back.disabled == d.disabled);
    task_definition_free(&d);
    task_definition_free(&back);
    memory_free(xml);
    memory_free(ignored);
    return 0;
}
