/* SPDX-License-Identifier: MIT */
/* openpla config: shows what a configuration collector has written, and compares two of them. */
#include "cli/report/config.h"

#include "cli/cli.h"
#include "cli/verbs.h"

#include <string.h>

enum { OUTPUT_BLOCK = 0x10000 };

bool config_is_chosen(const struct texts *tables, const char *table)
{
    bool chosen = tables->count == 0;
    for (size_t i = 0; !chosen && i < tables->count; i++)
        chosen = text_matches(tables->items[i], table);
    return chosen;
}

static void say(const char *path, const struct texts *remarks)
{
    fflush(stdout); /* it comes behind what was shown of the file */
    for (size_t i = 0; i < remarks->count; i++)
        fprintf(stderr, "openpla " CONFIG_VERB ": %s: %s\n", path, remarks->items[i]);
}

/* CLI_DONE, CLI_FAILED or CLI_REMARKS. JSON has remarks and errors in itself, and nothing comes between its lines. */
static int show(const char *path, const struct texts *tables, struct json *j)
{
    struct texts remarks = {0};
    HRESULT hr = j ? config_show_json(path, tables, j, &remarks) : config_show_text(path, tables, &remarks);
    const struct error_kept why = error_keep(hr);
    int result = FAILED(hr) ? CLI_FAILED : remarks.count ? CLI_REMARKS : CLI_DONE;
    if (!j) {
        say(path, &remarks);
        if (FAILED(hr))
            cli_error(CONFIG_VERB, error_restore(&why));
    }
    texts_free(&remarks);
    return result;
}

static int show_all(int argc, char **argv)
{
    struct texts files = {0}, tables = {0};
    bool as_json = false;
    const struct option options[] = {{"json", OPTION_FLAG, &as_json}, {"t", OPTION_TEXTS, &tables}};
    struct json j = {.out = stdout};
    int result = options_parse(CONFIG_VERB, argc, argv, options, sizeof options / sizeof *options, &files);
    if (result == CLI_DONE && files.count == 0)
        result = cli_usage(CONFIG_VERB, "which file?");
    const bool begun = result == CLI_DONE;
    if (begun && as_json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; begun && i < files.count; i++) {
        if (i > 0 && !as_json)
            putchar('\n');
        const int one = show(files.items[i], &tables, as_json ? &j : NULL);
        result = result == CLI_FAILED || one == CLI_DONE ? result : one;
    }
    if (begun && as_json)
        json_end(&j, ']');
    texts_free(&files);
    texts_free(&tables);
    return result;
}

static int run(int argc, char **argv)
{
    /* Where Wine takes the output for a terminal it writes character by character otherwise. */
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BLOCK);
    static const struct sub_verb verbs[] = {{"diff", config_diff}, {"", show_all}};
    return cli_sub_verb(CONFIG_VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_config = {
    CONFIG_VERB, "shows or compares what configuration collectors wrote",
    "openpla config FILE.xml [FILE.xml ...] [-t TABLE ...] [--json]\n"
    "openpla config diff BEFORE.xml AFTER.xml [-t TABLE ...] [-ignore COLUMN ...] [-all] [--json]\n"
    "\n"
    "The first shows what a configuration collector has written: sections, tables and their rows. The\n"
    "second says what differs: rows that came (+), went (-) or changed (~), with the old and the new\n"
    "text of each column that did. Rows are told by their keys, such as a path or a key and a name,\n"
    "not by their places. Columns that are other ones each time, such as free space, do not count.\n"
    "\n"
    "  -t        tables, * and ? are wildcards\n"
    "  -ignore   columns that do not count, or table/column; * and ? are wildcards\n"
    "  -all      columns count that are other ones each time\n"
    "  --json    in JSON: an array with one object per file; of diff, one object\n"
    "\n"
    "Files may have any size. Exit code 3: a file is damaged or was cut short; all its whole rows\n"
    "are shown or compared. Exit codes of diff: 0 the same, 1 different, 2 not compared.\n",
    run};
