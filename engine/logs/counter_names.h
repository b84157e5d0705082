/* SPDX-License-Identifier: MIT */
/* Finds the English names of objects and counters with translated names. For example, a log from a German Windows
   contains \Prozessor(_Total)\Prozessorzeit (%). */
#ifndef OPENPLA_COUNTER_NAMES_H
#define OPENPLA_COUNTER_NAMES_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

/* The names of the log's computer, and the built-in table (names/counter_names.def). If the computer's list and the
   built-in table both have a name, the list takes precedence. */
struct counter_names;

/* Creates the names from `files` and the built-in table. If `files` is NULL or empty, only the table is used. The files
   are from the computer that wrote the log: exports (.reg) of the registry key Perflib, or perfcNNN.dat files. The
   English perfc009.dat is found without being listed if it is in the folder of the first file. Fails if a file cannot
   be read, has no names, or lacks the English names; the error text contains the file's name. */
HRESULT counter_names_create(const struct texts *files, struct counter_names **out);
void counter_names_free(struct counter_names *n); /* NULL is allowed */

/* The strings are borrowed from the counter_names. */
struct english_name {
    const char *object, *counter; /* NULL: the name is unchanged, because it is English or unknown */
    /* Mask of the languages to which the given names can belong; bit 0 is English; 0: unknown. */
    uint32_t languages;
    bool is_unknown; /* a name is not English and has either no English equivalent or several */
};
/* Returns the English names of an object and a counter. The comparison ignores case, accents, width and the kind of
   space character. If a name is unknown, its bytes are decoded with other ANSI code pages and compared again, because
   the log's computer may use one of these code pages. A counter with a wildcard stays unchanged. Fails with
   E_OUTOFMEMORY. */
HRESULT counter_names_find(const struct counter_names *n, const char *object, const char *counter,
                           struct english_name *out);
/* Returns the path with English names, from memory_alloc. S_FALSE and NULL: the names in the path are English or
   unknown, or `path` is not a counter path. */
HRESULT counter_names_path(const struct counter_names *n, const char *path, char **out);

/* ---- how many names in a log were recognized ---- */
enum { NAMES_MOST_KINDS = 64, NAMES_MOST_EXAMPLES = 16 };
struct names_count {
    uint32_t languages;
    size_t count;
};
/* Zero-initialise. */
struct names_summary {
    size_t total, foreign; /* number of counters, and number of those with letters that English lacks */
    /* The number of names for each set of possible languages. */
    struct names_count understood[NAMES_MOST_KINDS], unknown[NAMES_MOST_KINDS];
    size_t understood_kinds, unknown_kinds;
    struct texts examples; /* paths of unknown names */
    uint32_t example_languages[NAMES_MOST_EXAMPLES];
    bool own; /* names from the log's computer are available */
};
HRESULT names_summary_add(struct names_summary *s, const struct counter_names *n, const struct log_counter *counter);
/* Returns a summary such as "14 of 82 counters are German and were understood; 2 were not: ...", from memory_alloc.
   S_FALSE and NULL: the names are English. */
HRESULT names_summary_text(const struct names_summary *s, char **out);
void names_summary_free(struct names_summary *s);

#endif
