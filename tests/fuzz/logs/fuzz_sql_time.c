/* SPDX-License-Identifier: MIT */
/* Any text as CounterDateTime: it is a valid time or is rejected, and a valid time is written as the same text. */
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
    char written[SQL_TIME_UNITS];
    int64_t utc = -1, again = -1;
    char *text = text_copy_n((const char *)data, size);
    if (size > 1 && data[0] == 'T') { /* a time with some characters replaced: place, character */
        memory_free(text);
        text = text_copy("2024-12-28 23:59:59.999 ");
        for (size_t i = 1; i + 1 < size; i += 2)
            text[data[i] % 24] = (char)data[i + 1];
    }
    if (sql_time_parse(text, &utc)) {
        expect(utc >= 0);
        sql_time_text(utc, written);
        expect(sql_time_parse(written, &again) && again == utc);
        /* The text must be the same. Later days are not compared, because the month may not have them. */
        if (strlen(text) == 23 && memcmp(text + 8, "28", 2) <= 0) {
            expect(memcmp(text, written, 10) == 0 && memcmp(text + 11, written + 11, 8) == 0 &&
                   memcmp(text + 20, written + 20, 3) == 0);
        }
    }
    memory_free(text);
    return 0;
}
