/* SPDX-License-Identifier: MIT */
/* Runs logman command lines in this process and captures their results. */
#ifndef OPENPLA_TESTS_LOGMAN_FIXTURE_H
#define OPENPLA_TESTS_LOGMAN_FIXTURE_H

#include "cli/cli.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DONE "The command completed successfully."

/* Splits the line into words and removes the word logman. Double quotes work as in the Windows C runtime; a single
   quote at the beginning of a word works as in PowerShell. */
static inline void split(const char *line, struct texts *words)
{
    while (*line) {
        struct text_buffer b = {0};
        char quote = 0;
        line += strspn(line, " \t");
        if (!*line)
            break;
        for (; *line && (quote || (*line != ' ' && *line != '\t')); line++)
            if (quote ? *line == quote : *line == '"' || (*line == '\'' && b.length == 0))
                quote = quote ? 0 : *line;
            else
                text_buffer_add_n(&b, line, 1);
        text_buffer_add(&b, "");
        assert_int_equal(texts_add_owned(words, text_buffer_take(&b)), S_OK);
    }
    assert_int_equal(strncasecmp(words->items[0], "logman", 6), 0);
    memory_free(words->items[0]);
    memmove(words->items, words->items + 1, --words->count * sizeof *words->items);
}

/* Returns the verb's output to stdout and stderr, from memory_alloc. The nth allocation fails (none if n is 0); *failed
   says whether the verb reached that allocation. */
static inline char *run_failing(const struct verb *verb, const struct texts *words, int *code, uint64_t n, bool *failed)
{
    static char *text; /* static, because the gcc 12 optimizer warns that the returned pointer refers to a local
                          variable */
    size_t size;
    fflush(stdout);
    const int shown = dup(1), said = dup(2), out = open("out", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(dup2(out, 1) == 1 && dup2(out, 2) == 2);
    memory_fail_at(n);
    *code = verb->run((int)words->count, words->items);
    *failed = memory_count() >= n;
    memory_fail_at(0);
    fflush(stdout);
    dup2(shown, 1);
    dup2(said, 2);
    close(shown);
    close(said);
    close(out);
    assert_int_equal(file_load("out", 1 << 20, &text, &size), S_OK);
    return text;
}

static inline char *run(const struct verb *verb, const struct texts *words, int *code)
{
    bool failed;
    return run_failing(verb, words, code, 0, &failed);
}

static inline int with_traces(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    char *folder = os_module_folder(), *program = path_join(folder, "trace_test_host");
    scratch_environment("OPENPLA_HOST", program);
    memory_free(folder);
    memory_free(program);
    return 0;
}

/* Uses a unique session name, because tests run in parallel. */
static inline void logman_own_sessions(void)
{
    char name[32];
    snprintf(name, sizeof name, "logman%u", (unsigned)process_own_id());
    scratch_environment("OPENPLA_ETW", name);
}

#endif
