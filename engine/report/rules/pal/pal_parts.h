/* SPDX-License-Identifier: MIT */
/* The parts of the code that imports PAL's threshold files: reading the files, interpreting their PowerShell, and
   writing rules. */
#ifndef OPENPLA_PAL_PARTS_H
#define OPENPLA_PAL_PARTS_H

#include "engine/base/xml_document.h"
#include "engine/report/pal_import.h"

#include <stdint.h>

/* Strings live as long as the import. A failed allocation is remembered, and the string is "". A file that needs more
   than 256 MB of strings also fails with E_OUTOFMEMORY, because its code could build any number of strings. */
struct pal_pool {
    struct texts texts;
    size_t bytes;
    bool failed;
};
const char *pal_keep(struct pal_pool *p, char *owned); /* NULL means out of memory */
const char *pal_format(struct pal_pool *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- XPath ----

   Conditions contain PAL_ROW before each path that starts at a counter's row. PAL_ROW becomes "" for the row and
   "../../" for one of its slices. The Data elements with the mean, min and max have the same names in a row and in a
   slice. */
#define PAL_ROW      "\x01"
#define PAL_LOWER(x) "translate(" x ",'ABCDEFGHIJKLMNOPQRSTUVWXYZ','abcdefghijklmnopqrstuvwxyz')"
/* Returns the text as an XPath literal, with ASCII letters in lower case if `folded` is set. */
const char *pal_literal(struct pal_pool *p, const char *text, bool folded);
const char *pal_number(struct pal_pool *p, double number);
/* Returns the condition with PAL_ROW replaced. */
const char *pal_at(struct pal_pool *p, const char *condition, const char *row);
/* Returns the XPath that rounds the value as PAL does. If `decimals` is negative, returns the value itself. */
const char *pal_rounded(struct pal_pool *p, const char *value, int decimals);
/* Returns an XPath condition that is true if the XPath string `of`, in lower case, matches the regular expression
   anywhere, ignoring case. Only text, alternatives, ?, .*, .+, ^ and $ are supported; for any other expression, returns
   NULL, and *why is the reason. */
const char *pal_regex(struct pal_pool *p, const char *expression, const char *of, const char **why);

/* ---- descriptions ---- */

/* Converts HTML to plain text with line ends; `links` receives the addresses (http, https) of its links, each once. */
const char *pal_html_text(struct pal_pool *p, const char *html, struct texts *links);

/* ---- the contents of a file ---- */

struct pal_source {
    const char *variable, *path, *code; /* `variable` is COLLECTIONVARNAME, `path` is EXPRESSIONPATH; `code` is the
                                           code of a computed counter */
    const char *counter;                /* counter name in `path` */
    bool generated;
    bool has_instances; /* the path selects all instances of the object */
    bool is_sql;        /* the path's object is a regular expression, so the counter is combined with counters of the
                           same SQL Server */
    int decimals;       /* decimals to which PAL rounds its values; -1 if not rounded */
    const char *rows;   /* XPath of the counter's rows in a report; NULL if not supported, `why` is the reason */
    const char *why;
};
struct pal_threshold {
    const char *name, *condition, *code, *description;
    int64_t priority;
};
struct pal_analysis {
    const char *file, *name, *id, *category, *description;
    bool enabled;
    struct pal_source *sources;
    size_t source_count, source_capacity;
    struct pal_threshold *thresholds; /* in the order of their priorities, the highest first */
    size_t threshold_count, threshold_capacity;
};
struct pal_set {
    struct pal_pool pool;
    struct pal_imported *out;
    struct pal_analysis *analyses;
    size_t analysis_count, analysis_capacity;
    struct texts files; /* names of the files that were read */
    const char *title;  /* NAME of the first file */
};
HRESULT pal_set_read(const struct pal_job *job, struct pal_set *set);
void pal_set_free(struct pal_set *set);
HRESULT pal_note(struct pal_set *set, struct texts *to, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- tokens of PowerShell ---- */

enum pal_token_kind {
    PAL_END,
    PAL_LINE, /* the end of a statement: a line end or a semicolon */
    PAL_VARIABLE,
    PAL_NUMBER,
    PAL_STRING,
    PAL_WORD,
    PAL_DASH, /* an operator or a parameter, such as -word, stored without the dash */
    PAL_SIGN  /* one or two characters */
};
struct pal_token {
    enum pal_token_kind kind;
    const char *text; /* words in lower case */
    double number;
};
struct pal_tokens {
    struct pal_token *items;
    size_t count, capacity;
};
/* Splits code into tokens. `names` are the names of collections and questions, which may contain any characters.
   Returns S_FALSE if the code is too long. */
HRESULT pal_tokens_read(struct pal_pool *p, const char *code, const struct texts *names, struct pal_tokens *out);

/* ---- understanding code ---- */

enum { PAL_ALERTS_MAX = 8, PAL_OPERANDS_MAX = 4 };

/* A condition on the rows of one counter. */
struct pal_alert {
    const struct pal_source *source;
    const char *condition;    /* XPath that contains PAL_ROW; NULL if the counter is a computed counter (struct
                                 pal_formula) */
    const char *sign, *limit; /* XPath; `sign` is the operator, and `limit` is a number or an expression */
    bool is_constant;         /* the limit is a number */
    bool of_trend;
    bool is_whole; /* the limit has at most as many decimals as PAL's rounded values */
    enum pal_statistic { PAL_MEAN, PAL_MIN, PAL_MAX, PAL_TREND } shown;
};
struct pal_outcome {
    struct pal_alert alerts[PAL_ALERTS_MAX];
    size_t count;
    const char *why;  /* NULL if the code was understood */
    const char *note; /* NULL means no note */
};
HRESULT pal_code_read(struct pal_set *set, const struct pal_analysis *a, const struct pal_threshold *t, bool means,
                      struct pal_outcome *out);

/* A computed counter: XPath of {palV0}, {palV1} ..., the values of its operands. */
struct pal_formula {
    const struct pal_source *operands[PAL_OPERANDS_MAX];
    size_t count;
    const char *value, *guard; /* `guard`: the condition under which the formula has a value; "" means always */
    const char *why, *note;    /* `why` is the reason why the code was not understood; NULL if the code was
                                  understood */
};
HRESULT pal_formula_read(struct pal_set *set, const struct pal_analysis *a, const struct pal_source *s,
                         struct pal_formula *out);

/* ---- writing rules ---- */

HRESULT pal_rules_write(struct pal_set *set, bool means, struct text_buffer *to);

#endif
