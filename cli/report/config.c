/* SPDX-License-Identifier: MIT */
/* openpla config: shows the document that a configuration collector wrote, and compares two documents row by row. */
#include "cli/report/config.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/report/report_compare.h"

#include <string.h>

/* Exit codes of diff. A failure does not return 1, because 1 means that the files are different. */
enum { DIFF_SAME = 0, DIFF_DIFFERENT = 1, DIFF_FAILED = 2, DIFF_DAMAGED = 3 };

static const char *const kinds[] = {[REPORT_CAME] = "came", [REPORT_WENT] = "went", [REPORT_CHANGED] = "changed"};
static const char marks[] = {[REPORT_CAME] = '+', [REPORT_WENT] = '-', [REPORT_CHANGED] = '~'};

struct diff {
    const char *paths[2];
    struct json *j;          /* NULL means that text is printed */
    struct text_buffer last; /* the table whose name was printed last */
    unsigned side; /* part that was written last: 0 and 1 mean the facts of that file, 2 means the differences, 3 means
                      nothing yet */
};

/* ---- as text ---- */

static void print_quoted(const char *text)
{
    putchar('"');
    print_shown(text);
    putchar('"');
}

/* Prints a value, and its type only if the types differ. */
static void print_typed(const char *text, const char *type, const char *other_type)
{
    print_quoted(text);
    if (strcmp(type, other_type) != 0) {
        fputs(" (", stdout);
        print_shown(*type ? type : "no type");
        putchar(')');
    }
}

static HRESULT print_fact(void *about, unsigned side, const struct report_data *fact)
{
    struct diff *d = about;
    if (d->side != side) {
        printf("%c%c%c %s\n", marks[!side], marks[!side], marks[!side], d->paths[side]);
        d->side = side;
    }
    fputs("    ", stdout);
    print_shown(fact->name);
    fputs(": ", stdout);
    print_shown(fact->text);
    putchar('\n');
    return S_OK;
}

/* Prints the heading of a table, "[section] table: source (the row that contains the table)", unless this heading was
   the last one printed. */
static HRESULT name_table(struct diff *d, const struct report_difference *x)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "[");
    add_shown(&b, x->section);
    text_buffer_add(&b, "] ");
    add_shown(&b, x->table_name);
    if (*x->source) {
        text_buffer_add(&b, ": ");
        add_shown(&b, x->source);
    }
    if (*x->outer) {
        text_buffer_add(&b, " (");
        add_shown(&b, x->outer);
        text_buffer_add(&b, ")");
    }
    if (b.failed) {
        text_buffer_free(&b);
        return E_OUTOFMEMORY;
    }
    if (!d->last.text || strcmp(d->last.text, b.text) != 0)
        printf("\n%s\n", b.text);
    text_buffer_free(&d->last);
    d->last = b;
    return S_OK;
}

/* Prints the row's keys. With -all, or if the row has no keys, prints all cells that are not empty. */
static void print_cells(const struct report_difference *x, bool all)
{
    bool keyed = false, first = true;
    for (size_t i = 0; i < x->cell_count; i++)
        keyed |= x->cells[i].key;
    for (size_t i = 0; i < x->cell_count; i++) {
        const struct report_cell *c = &x->cells[i];
        if (keyed && !all ? !c->key : !*c->text)
            continue;
        fputs(first ? "" : ", ", stdout);
        print_shown(c->column);
        putchar('=');
        print_quoted(c->text);
        first = false;
    }
}

static HRESULT print_difference(void *about, const struct report_difference *x)
{
    struct diff *d = about;
    HRESULT hr = name_table(d, x);
    if (FAILED(hr))
        return hr;
    printf("  %c ", marks[x->kind]);
    if (x->table)
        fputs("(the table)", stdout);
    else
        print_cells(x, x->kind != REPORT_CHANGED);
    putchar('\n');
    for (size_t i = 0; i < x->change_count; i++) {
        const struct report_change *c = &x->changes[i];
        fputs("      ", stdout);
        print_shown(c->column);
        fputs(": ", stdout);
        print_typed(c->before, c->type_before, c->type_after);
        fputs(" -> ", stdout);
        print_typed(c->after, c->type_after, c->type_before);
        putchar('\n');
    }
    return S_OK;
}

static void print_counts(const struct report_compared *c)
{
    if (c->tables_came || c->tables_went)
        printf("\nTables: %llu added, %llu removed\n", (unsigned long long)c->tables_came,
               (unsigned long long)c->tables_went);
    else
        putchar('\n');
    printf("Rows: %llu changed, %llu added, %llu removed, %llu unchanged\n", (unsigned long long)c->changed,
           (unsigned long long)c->came, (unsigned long long)c->went, (unsigned long long)c->same);
}

/* ---- as JSON ---- */

/* Ends the current part of the document and begins the next. The parts are the facts of the first file, the facts of
   the second file, and the differences. */
static void json_go_to(struct diff *d, unsigned side)
{
    while (d->side != side) {
        if (d->side < 2)
            json_end(d->j, '}');
        d->side = d->side > 2 ? 0 : d->side + 1;
        json_begin(d->j, d->side == 0 ? "before" : d->side == 1 ? "after" : "differences", d->side < 2 ? '{' : '[');
    }
}

static HRESULT json_fact(void *about, unsigned side, const struct report_data *fact)
{
    struct diff *d = about;
    json_go_to(d, side);
    config_put_fact(d->j, fact);
    return S_OK;
}

static void json_cells(struct json *j, const struct report_difference *x, const char *name, bool keys)
{
    json_begin(j, name, '{');
    for (size_t i = 0; i < x->cell_count; i++)
        if (!keys || x->cells[i].key)
            config_put_typed(j, x->cells[i].column, x->cells[i].text, x->cells[i].type);
    json_end(j, '}');
}

static void json_change(struct json *j, const struct report_change *c)
{
    json_begin(j, NULL, '{');
    json_text(j, "column", c->column);
    config_put_typed(j, "before", c->before, c->type_before);
    config_put_typed(j, "after", c->after, c->type_after);
    if (strcmp(c->type_before, c->type_after) != 0) {
        json_text(j, "typeBefore", c->type_before);
        json_text(j, "typeAfter", c->type_after);
    }
    json_end(j, '}');
}

static HRESULT json_difference(void *about, const struct report_difference *x)
{
    struct diff *d = about;
    struct json *j = d->j;
    json_go_to(d, 2);
    json_begin(j, NULL, '{');
    json_text(j, "difference", kinds[x->kind]);
    json_text(j, "of", x->table ? "table" : "row");
    json_text(j, "section", x->section);
    json_text(j, "table", x->table_name);
    json_text(j, "source", x->source);
    if (*x->outer)
        json_text(j, "in", x->outer);
    if (!x->table) {
        json_cells(j, x, "key", true);
        if (x->kind != REPORT_CHANGED)
            json_cells(j, x, "row", false);
    }
    if (x->kind == REPORT_CHANGED) {
        json_begin(j, "columns", '[');
        for (size_t i = 0; i < x->change_count; i++)
            json_change(j, &x->changes[i]);
        json_end(j, ']');
    }
    json_end(j, '}');
    return S_OK;
}

static void json_counts(struct diff *d, const struct report_compared *c, HRESULT hr)
{
    struct json *j = d->j;
    struct error_kept why = error_keep(hr);
    json_go_to(d, 2);
    json_end(j, ']');
    json_integer(j, "changed", (int64_t)c->changed);
    json_integer(j, "came", (int64_t)c->came);
    json_integer(j, "went", (int64_t)c->went);
    json_integer(j, "same", (int64_t)c->same);
    json_integer(j, "tablesCame", (int64_t)c->tables_came);
    json_integer(j, "tablesWent", (int64_t)c->tables_went);
    json_begin(j, "remarks", '[');
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < c->warnings[side].count; i++) {
            json_begin(j, NULL, '{');
            json_text(j, "file", d->paths[side]);
            json_text(j, "remark", c->warnings[side].items[i]);
            json_end(j, '}');
        }
    json_end(j, ']');
    if (FAILED(hr))
        json_text(j, "error", why.text);
    json_end(j, '}');
}

/* ---- the verb ---- */

static int config_compare(struct diff *d, struct report_compare *how)
{
    struct report_compared c;
    how->about = d;
    how->fact = d->j ? json_fact : print_fact;
    how->difference = d->j ? json_difference : print_difference;
    if (d->j) {
        json_begin(d->j, NULL, '{');
        json_text(d->j, "beforeFile", d->paths[0]);
        json_text(d->j, "afterFile", d->paths[1]);
    }
    d->side = 3;
    HRESULT hr = report_compare(d->paths[0], d->paths[1], how, &c);
    int result = c.changed || c.came || c.went || c.tables_came || c.tables_went ? DIFF_DIFFERENT : DIFF_SAME;
    if (d->j)
        json_counts(d, &c, hr);
    else if (SUCCEEDED(hr))
        print_counts(&c);
    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < c.warnings[side].count; i++) {
            fprintf(stderr, "openpla " CONFIG_VERB ": %s: %s\n", d->paths[side], c.warnings[side].items[i]);
            result = DIFF_DAMAGED;
        }
    if (FAILED(hr)) {
        cli_error(CONFIG_VERB " diff", hr);
        result = DIFF_FAILED;
    }
    report_compared_free(&c);
    text_buffer_free(&d->last);
    return result;
}

/* Runs "openpla config diff ...", without "diff" in argv. Returns 0 (the files are equal), 1 (they are different), 2
   (they were not compared) or 3 (they were compared as far as corrupt files allow). */
static int config_diff(int argc, char **argv)
{
    struct texts files = {0}, ignore = {0}, tables = {0};
    bool as_json = false;
    struct report_compare how = {.ignore = &ignore, .tables = &tables};
    const struct option options[] = {{"json", OPTION_FLAG, &as_json},
                                     {"ignore", OPTION_TEXTS, &ignore},
                                     {"t", OPTION_TEXTS, &tables},
                                     {"all", OPTION_FLAG, &how.volatile_too}};
    struct json j = {.out = stdout};
    int result = options_parse(CONFIG_VERB, argc, argv, options, sizeof options / sizeof *options, &files);
    if (result != CLI_DONE)
        result = DIFF_FAILED;
    else if (files.count != 2)
        result = cli_usage(CONFIG_VERB, "diff: expected two files, got %zu", files.count);
    else
        result =
            config_compare(&(struct diff){.paths = {files.items[0], files.items[1]}, .j = as_json ? &j : NULL}, &how);
    texts_free(&files);
    texts_free(&ignore);
    texts_free(&tables);
    return result;
}

/* ---- show ---- */

enum { OUTPUT_BLOCK = 0x10000 };

bool config_is_chosen(const struct texts *tables, const char *table)
{
    bool chosen = tables->count == 0;
    for (size_t i = 0; !chosen && i < tables->count; i++)
        chosen = text_matches(tables->items[i], table);
    return chosen;
}

static void say(const char *path, const struct texts *warnings)
{
    fflush(stdout); /* the messages must follow the file's output */
    for (size_t i = 0; i < warnings->count; i++)
        fprintf(stderr, "openpla " CONFIG_VERB ": %s: %s\n", path, warnings->items[i]);
}

/* Shows one file. Returns CLI_DONE, CLI_FAILED or CLI_REMARKS. The JSON contains the warnings and errors, so that
   nothing else is printed between the lines of the JSON. */
static int config_show(const char *path, const struct texts *tables, struct json *j)
{
    struct texts warnings = {0};
    HRESULT hr = j ? config_show_json(path, tables, j, &warnings) : config_show_text(path, tables, &warnings);
    const struct error_kept why = error_keep(hr);
    int result = FAILED(hr) ? CLI_FAILED : warnings.count ? CLI_REMARKS : CLI_DONE;
    if (!j) {
        say(path, &warnings);
        if (FAILED(hr))
            cli_error(CONFIG_VERB, error_restore(&why));
    }
    texts_free(&warnings);
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
        result = cli_usage(CONFIG_VERB, "missing file");
    const bool begun = result == CLI_DONE;
    if (begun && as_json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; begun && i < files.count; i++) {
        if (i > 0 && !as_json)
            putchar('\n');
        const int one = config_show(files.items[i], &tables, as_json ? &j : NULL);
        result = result == CLI_FAILED || one == CLI_DONE ? result : one;
    }
    if (begun && as_json)
        json_end(&j, ']');
    texts_free(&files);
    texts_free(&tables);
    return result;
}

static int config_run(int argc, char **argv)
{
    /* If Wine treats the output as a terminal, unbuffered output would be written character by character. */
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BLOCK);
    static const struct sub_verb verbs[] = {{"diff", config_diff}, {"", show_all}};
    return cli_sub_verb(CONFIG_VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_config = {
    CONFIG_VERB, "shows or compares configuration documents",
    "openpla config FILE.xml [FILE.xml ...] [-t TABLE ...] [--json]\n"
    "openpla config diff BEFORE.xml AFTER.xml [-t TABLE ...] [-ignore COLUMN ...] [-all] [--json]\n"
    "\n"
    "The first form shows what a configuration collector wrote: sections, tables and rows. The second shows the\n"
    "differences: added (+), removed (-) and changed (~) rows, with the old and new value of each changed column. "
    "Rows\n"
    "are matched by their keys, such as a path or a key and a name, not by position. Columns that always change, such\n"
    "as free space, are ignored.\n"
    "\n"
    "  -t        only these tables; * and ? are wildcards\n"
    "  -ignore   columns to ignore, or table/column; * and ? are wildcards\n"
    "  -all      also compare columns that always change\n"
    "  --json    print JSON: an array with one object per file; with diff one object\n"
    "\n"
    "Files may have any size. Exit code 3: a file is corrupt or truncated; all its complete rows are shown or "
    "compared.\n"
    "Exit codes of diff: 0 equal, 1 different, 2 comparison not possible.\n",
    config_run};
