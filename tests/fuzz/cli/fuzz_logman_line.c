/* SPDX-License-Identifier: MIT */
/* Any words as a logman command line: each line of the input is a word; a line that begins with byte 1 or 2 is an
   option by number, or a removed option (--x). The command line is parsed, or rejected with an error text, and the
   parsed parts consist of the words of the line, each used at most once. */
#include "cli/logman/line.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"

#include <stdio.h>
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
    struct texts words = {0};
    struct logman_line line;
    char *all = memory_zero(size + 1, 1);
    if (size)
        memcpy(all, data, size);
    for (char *word = strtok(all, "\n"); word; word = strtok(NULL, "\n")) {
        char option[32];
        if (*word == 1 || *word == 2) {
            snprintf(option, sizeof option, "%s%s", *word == 1 ? "-" : "--",
                     logman_rows[(unsigned char)word[1] % LOGMAN_OPTIONS].name);
            word = option;
        }
        if (text_is_utf8(word, strlen(word))) /* the program's words are UTF-8 */
            expect(texts_add(&words, word) == S_OK);
    }
    HRESULT hr = logman_line_read(&(struct texts){0}, (int)words.count, words.items, &line);
    expect(hr == S_OK || (hr == E_INVALIDARG && *error_text(hr)));
    size_t taken = 0;
    for (size_t i = 0; i < line.count; i++) {
        const struct logman_row *row = &logman_rows[line.options[i].use];
        taken += 1 + line.options[i].words.count;
        expect(!line.options[i].negated || row->negatable);
        for (size_t j = 0; j < line.options[i].words.count; j++)
            expect(text_is_utf8(line.options[i].words.items[j], strlen(line.options[i].words.items[j])));
    }
    expect(taken <= words.count);
    logman_line_free(&line);
    texts_free(&words);
    memory_free(all);
    return 0;
}
