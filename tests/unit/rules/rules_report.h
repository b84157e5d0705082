/* SPDX-License-Identifier: MIT */
/* Lets tests run rules over a report. Both are files in a folder. */
#ifndef OPENPLA_RULES_REPORT_H
#define OPENPLA_RULES_REPORT_H

#include "engine/report/rules.h"
#include "tests/unit/scratch_folder.h"

struct ruled {
    struct rules *rules;
    struct rules_outcome outcome;
    char *path; /* path of the report, to which the rules add their results */
    char *text; /* text of the report */
    HRESULT hr;
};

static inline void rules_write_file(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name);
    struct file *f; /* never flushed to the disk, because flushes would take most of the time */
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_write(f, text, strlen(text)), S_OK);
    file_close(f);
    memory_free(path);
}

/* Runs rules over FOLDER/report.xml, and writes the changed report if requested. */
static inline void rules_run_limited(struct ruled *r, const char *folder, const char *rules, uint32_t limit,
                                     bool written)
{
    size_t size;
    *r = (struct ruled){.rules = rules_create(), .path = path_join(folder, "report.xml")};
    assert_non_null(r->rules);
    char *path = path_join(folder, "rules.xml"); /* relative imports are searched in this file's folder */
    r->hr = rules_add(r->rules, path, rules, strlen(rules));
    memory_free(path);
    if (SUCCEEDED(r->hr))
        r->hr = rules_apply(
            &(struct rules_job){
                .rules = r->rules, .report = r->path, .output = written ? r->path : NULL, .expression_limit = limit},
            &r->outcome);
    assert_int_equal(file_load(r->path, 1 << 24, &r->text, &size), S_OK);
}

static inline void rules_run_over(struct ruled *r, const char *folder, const char *rules)
{
    rules_run_limited(r, folder, rules, 0, true);
}

static inline void ruled_free(struct ruled *r)
{
    rules_outcome_free(&r->outcome);
    rules_free(r->rules);
    memory_free(r->path);
    memory_free(r->text);
}

/* Asserts that the rules and their actions caused no errors or notes. */
static inline void assert_no_fault(const struct ruled *r)
{
    const struct texts *const all[] = {rules_errors(r->rules), rules_notes(r->rules), &r->outcome.errors,
                                       &r->outcome.notes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->count; k++)
            fail_msg("%s", all[i]->items[k]);
    assert_int_equal(r->hr, S_OK);
}

static inline void assert_message(const struct texts *t, const char *piece)
{
    for (size_t i = 0; i < t->count; i++)
        if (strstr(t->items[i], piece))
            return;
    fail_msg("no message contains '%s', but: %s", piece, t->count ? t->items[0] : "nothing");
}

static inline void assert_has(const struct ruled *r, const char *piece)
{
    if (!strstr(r->text, piece))
        fail_msg("'%s' is missing in %s", piece, r->text);
}

static inline void assert_has_not(const struct ruled *r, const char *piece)
{
    if (strstr(r->text, piece))
        fail_msg("'%s' is in %s", piece, r->text);
}

#endif
