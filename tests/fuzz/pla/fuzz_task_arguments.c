/* SPDX-License-Identifier: MIT */
/* A value in a task's arguments is replaced with a harmless word. Whatever the value contains, the task gets the same
   arguments in both cases, except that the value itself stands in place of the word. The input is a pattern, a value
   and an element, each followed by a NUL. */
#include "engine/base/command_line.h"
#include "engine/base/memory.h"
#include "engine/pla/task.h"

#include <stdlib.h>
#include <string.h>

#define WORD    "\xF5"
#define ELEMENT "\xF6"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void arguments(const char *pattern, const char *value, char *element, struct texts *out)
{
    char plain[] = "plain", *items[] = {plain, element};
    struct texts list = {.count = 2, .items = items};
    const struct task_variable v[] = {{.name = "v", .text = value}, {.name = "l", .list = &list}};
    char *line;
    expect(task_expand_arguments(pattern, v, 2, &line) == S_OK);
    expect(command_line_split(line, out) == S_OK);
    memory_free(line);
}

static char *replaced(const char *text, const char *word, const char *by)
{
    struct text_buffer b = {0};
    for (const char *found; (found = strstr(text, word)); text = found + strlen(word)) {
        text_buffer_add_n(&b, text, (size_t)(found - text));
        text_buffer_add(&b, by);
    }
    text_buffer_add(&b, text);
    return text_buffer_take(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *all = memory_zero(size + 3, 1), word[] = ELEMENT;
    if (size)
        memcpy(all, data, size);
    char *pattern = all, *value = pattern + strlen(pattern) + 1;
    char *element = value + (value < all + size ? strlen(value) + 1 : 0);
    if (element > all + size)
        element = all + size;
    struct texts wanted = {0}, got = {0};
    /* An empty element is omitted. */
    if (*element && !memchr(all, (uint8_t)WORD[0], size) && !memchr(all, (uint8_t)ELEMENT[0], size)) {
        arguments(pattern, WORD, word, &wanted);
        arguments(pattern, value, element, &got);
        expect(wanted.count == got.count);
        for (size_t i = 0; i < wanted.count; i++) {
            char *one = replaced(wanted.items[i], WORD, value), *whole = replaced(one, ELEMENT, element);
            expect(!strcmp(whole, got.items[i]));
            memory_free(one);
            memory_free(whole);
        }
    }
    texts_free(&wanted);
    texts_free(&got);
    memory_free(all);
    return 0;
}
