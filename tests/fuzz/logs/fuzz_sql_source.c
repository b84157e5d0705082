/* SPDX-License-Identifier: MIT */
/* Any text as the name of an SQL log: the name is accepted or rejected, and no password in it is shown. */
#include "engine/base/memory.h"
#include "engine/logs/sql_log.h"

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
    struct sql_source s;
    char *text = text_copy_n((const char *)data, size);
    HRESULT hr = sql_source_parse(text, &s);
    expect(hr == S_OK || hr == E_INVALIDARG);
    if (hr == S_OK) {
        size_t tail = strlen(s.log_set);
        expect(tail && text[strlen(text) - tail - 1] == '!' && !strcmp(text + strlen(text) - tail, s.log_set));
        expect(s.connection[0] && strlen(s.shown) > tail);
    } else {
        expect(!s.connection && !s.log_set && !s.shown && error_text(hr)[0]);
    }
    sql_source_free(&s);
    memory_free(text);
    /* The input continues a password; no part of it may be shown. */
    char *name = text_format("SQL:DSN=x;PWD={S3CRET%.*s", (int)size, (const char *)data);
    hr = sql_source_parse(name, &s);
    if (!strstr(name + 21, "S3CRET"))
        expect(!strstr(hr == S_OK ? s.shown : error_text(hr), "S3CRET"));
    sql_source_free(&s);
    memory_free(name);
    return 0;
}
