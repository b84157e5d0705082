/* SPDX-License-Identifier: MIT */
/* A parsed command line of logman: verb, adverb, name, options with their words, and the option values. Parsing
   accesses no server. */
#ifndef OPENPLA_LINE_H
#define OPENPLA_LINE_H

#include "engine/base/text.h"

enum logman_verb {
    LOGMAN_QUERY,
    LOGMAN_CREATE,
    LOGMAN_START,
    LOGMAN_STOP,
    LOGMAN_DELETE,
    LOGMAN_UPDATE,
    LOGMAN_IMPORT,
    LOGMAN_EXPORT
};

/* Bits, so that a row can name several; the collector types are in the order of DataCollectorType. */
enum logman_adverb {
    LOGMAN_COUNTER = 1,
    LOGMAN_TRACE = 2,
    LOGMAN_CFG = 4,
    LOGMAN_ALERT = 8,
    LOGMAN_API = 16,
    LOGMAN_COLLECTOR = 31,
    LOGMAN_PROVIDERS = 32
};

/* The meaning of an option, independent of its value. */
enum logman_use {
#define OPTION(id, ...) LOGMAN_##id,
#include "cli/logman/options.def"
#undef OPTION
    LOGMAN_OPTIONS
};

/* How many words follow an option. */
enum logman_words {
    WORDS_NONE,
    WORDS_ONE,
    WORDS_MAYBE, /* one word that is_value accepts, or no word */
    WORDS_TWO,   /* one or two */
    WORDS_ALL,   /* up to the next option */
    WORDS_MOMENT,
    WORDS_PROVIDER /* provider [flags [level]] */
};

/* How the words of an option become the value of its property. */
enum logman_value {
    VALUE_NONE,    /* the option names no property */
    VALUE_FLAG,    /* true, or false for "--name" */
    VALUE_NUMBER,  /* logman_u32 */
    VALUE_SECONDS, /* logman_time */
    VALUE_STRING,  /* the word, or "" for "--name" */
    VALUE_STRINGS  /* all words */
};
struct logman_property {
    enum logman_value value;
    bool of_set; /* else of the collector */
    const char *name;
};

struct logman_row {
    const char *name, *alias; /* without the dash; alias may be NULL */
    enum logman_words words;
    bool negatable;                     /* "--name" unsets it */
    unsigned verbs;                     /* verbs whose help lists it: 1 << enum logman_verb */
    unsigned adverbs;                   /* collector types that accept it */
    bool (*is_value)(const char *word); /* for WORDS_MAYBE, and for a value after --name, which is ignored */
    struct logman_property property;
    const char *form, *text; /* for help: the form of the value (NULL: no value); the description */
};
extern const struct logman_row logman_rows[LOGMAN_OPTIONS];
const char *logman_form(const struct logman_row *row); /* the row's form; for -f the names of the log formats */

struct logman_word {
    const char *name;
    unsigned value;
};
/* The verbs, and the words after create (collector types) and query (providers). NULL ends each list. */
extern const struct logman_word logman_verbs[], logman_adverbs[];

struct logman_option {
    enum logman_use use;
    bool negated;
    struct texts words;
};

struct logman_line {
    enum logman_verb verb;
    bool verb_given; /* else the default verb */
    unsigned adverb; /* enum logman_adverb; 0: none */
    char *name;      /* NULL: none */
    bool help;
    struct logman_option *options;
    size_t count, capacity;
    struct texts warnings; /* notes about words that were interpreted differently */
};

/* `settings`: the words in -config's files, which the command line overrides. argv without the program's name and
   without -config, UTF-8. E_INVALIDARG with a message that names the word, E_OUTOFMEMORY. *out must be freed in any
   case. */
HRESULT logman_line_read(const struct texts *settings, int argc, char **argv, struct logman_line *out);
void logman_line_free(struct logman_line *line);
/* The last option with that use; NULL: not given. */
const struct logman_option *logman_option(const struct logman_line *line, enum logman_use use);
bool logman_is_given(const struct logman_line *line, enum logman_use use); /* and not negated */

/* Values of logman's options: numbers, times, days, modes. `option` is its name for error messages.
   Decimal, or hexadecimal after 0x. */
bool logman_number(const char *word, uint64_t *out);
HRESULT logman_u32(const char *option, const char *word, uint32_t *out);
/* Seconds of "ss", "mm:ss", "hh:mm:ss"; parts may exceed 59, and a fraction must be 0. E_INVALIDARG. */
HRESULT logman_time(const char *option, const char *word, uint32_t *out);
/* "nnnnnn" (or nnnnn) and "mmddhhmm"; *format: a bit of AutoPathFormat. */
bool logman_version(const char *word, uint32_t *format);
/* One to three words: a date (m/d/yyyy, yyyy-mm-dd, dd.mm.yyyy, or d/m/yyyy if unambiguous), a time of day, or both.
 *day 0: no date, else a DATE's whole days; *time -1: no time, else a fraction of a day. E_INVALIDARG. */
HRESULT logman_moment(const char *option, const struct texts *words, double *day, double *time);
/* Words and numbers of -mode, separated by '|', as bits of EVENT_TRACE_LOGFILE's LogFileMode. E_INVALIDARG. */
HRESULT logman_mode(const char *words, uint32_t *out);

#endif
