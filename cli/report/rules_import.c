/* SPDX-License-Identifier: MIT */
/* openpla rules import-pal: creates rules from a threshold file of PAL. */
#include "cli/cli.h"
#include "cli/report/report.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/report/pal_import.h"

#include <stdio.h>
#include <string.h>

#define VERB "rules"

struct import_request {
    struct texts operands, answers;
    const char *output;
    bool means, yes;
    char *path; /* path of the rules file */
    struct pal_imported imported;
};

/* Chooses the output's path: FILE.xml becomes FILE.rules.xml in the current folder. */
static HRESULT name_output(struct import_request *r)
{
    const char *input = r->operands.items[0], *name = path_name(input);
    const size_t n = strlen(name) - strlen(path_extension(name));
    r->path = r->output ? text_copy(r->output) : text_format("%.*s.rules.xml", (int)n, name);
    if (!r->path)
        return E_OUTOFMEMORY;
    if (file_is_same(r->path, input))
        return error_set(E_INVALIDARG, "cannot write '%s': it is an input file", r->path);
    if (!r->yes && file_exists(r->path) && !cli_may_overwrite(r->path))
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "'%s' already exists (use -y to overwrite)",
                         r->path);
    return S_OK;
}

static HRESULT import_request_do(struct import_request *r)
{
    HRESULT hr = name_output(r);
    if (SUCCEEDED(hr))
        hr = pal_import(&(struct pal_job){.path = r->operands.items[0], .answers = &r->answers, .means = r->means},
                        &r->imported);
    return SUCCEEDED(hr) ? file_store(r->path, r->imported.rules, r->imported.size) : hr;
}

static int import_print_result(const struct import_request *r)
{
    const struct pal_imported *i = &r->imported;
    for (size_t k = 0; k < i->notes.count; k++)
        fprintf(stderr, "openpla " VERB ": %s\n", i->notes.items[k]);
    for (size_t k = 0; k < i->lost.count; k++)
        fprintf(stderr, "openpla " VERB ": not imported: %s\n", i->lost.items[k]);
    for (size_t k = 0; k < i->question_count; k++) {
        const struct pal_question *q = &i->questions[k];
        printf("question: %s\n    answer: %s=%s (%s)\n", *q->text ? q->text : q->variable, q->variable, q->value,
               q->is_answered ? "from -answer"
               : q->is_memory ? "used if the report does not contain the amount of memory; change it with -answer"
                              : "from the file; change it with -answer");
    }
    printf("%llu of %llu thresholds were imported\n%s\n", (unsigned long long)i->mapped,
           (unsigned long long)i->thresholds, r->path);
    return i->lost.count ? CLI_REMARKS : CLI_DONE;
}

int rules_import_pal(int argc, char **argv)
{
    struct import_request r = {0};
    const struct option options[] = {{"answer", OPTION_TEXTS, &r.answers},
                                     {"means", OPTION_FLAG, &r.means},
                                     {"o", OPTION_TEXT, &r.output},
                                     {"y", OPTION_FLAG, &r.yes}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &r.operands);
    if (result == CLI_DONE && r.operands.count != 1)
        result = cli_usage(VERB, r.operands.count ? "import-pal: expected one file" : "import-pal: missing file");
    if (result == CLI_DONE) {
        const HRESULT hr = import_request_do(&r);
        result = FAILED(hr) ? cli_error(VERB, hr) : import_print_result(&r);
    }
    pal_imported_free(&r.imported);
    memory_free(r.path);
    texts_free(&r.operands);
    texts_free(&r.answers);
    return result;
}
