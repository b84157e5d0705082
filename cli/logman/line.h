/* SPDX-License-Identifier: MIT */
/* A parsed command line of logman: verb, adverb, name, and options with their words and values. Parsing does not access
   the server. */
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

/* The values are bits, so that a row of options.def can name several adverbs. The collector types are in the order of
   DataCollectorType. */
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

/* The number of words that follow an option. */
enum logman_words {
    WORDS_NONE,
    WORDS_ONE,
    WORDS_MAYBE, /* one word that is_value accepts, or no word */
    WORDS_TWO,   /* one or two words */
    WORDS_ALL,   /* all words up to the next option */
    WORDS_MOMENT,
    WORDS_PROVIDER /* a provider [flags [level]] */
};

/* How the words of an option are converted to the value of its property. */
enum logman_value {
    VALUE_NONE,    /* the option does not set a property */
    VALUE_FLAG,    /* the value is true, or for "--name" false */
    VALUE_NUMBER,  /* logman_u32 */
    VALUE_SECONDS, /* logman_time */
    VALUE_STRING,  /* the value is the word, or for "--name" "" */
    VALUE_STRINGS  /* all words */
};
struct logman_property {
    enum logman_value value;
    bool of_set; /* true: the property belongs to the set; false: to the collector */
    const char *name;
};

struct logman_row {
    const char *name, *alias; /* name and alias without the dash; alias may be NULL */
    enum logman_words words;
    bool negatable;                     /* "--name" removes the setting */
    unsigned verbs;                     /* the verbs whose help lists the option: 1 << enum logman_verb */
    unsigned adverbs;                   /* the collector types that accept the option */
    bool (*is_value)(const char *word); /* decides whether WORDS_MAYBE takes the word; also recognises a value after
                                           "--name", which is ignored */
    struct logman_property property;
    const char *form, *text; /* for the help: the form of the value (NULL means no value) and the description */
};
extern const struct logman_row logman_rows[LOGMAN_OPTIONS];
/* Returns the form of the option's value. For -f, this is the list of the log formats. */
const char *logman_form(const struct logman_row *row);

struct logman_word {
    const char *name;
    unsigned value;
};
/* The verbs, and the words that can follow a verb: a collector type after create, `providers` after query. NULL ends
   each list. */
extern const struct logman_word logman_verbs[], logman_adverbs[];

struct logman_option {
    enum logman_use use;
    bool negated;
    struct texts words;
};

struct logman_line {
    enum logman_verb verb;
    bool verb_given; /* false: the line has no verb, so `verb` is the default verb */
    unsigned adverb; /* enum logman_adverb; 0 means no adverb */
    char *name;      /* NULL means no name */
    bool help;
    struct logman_option *options;
    size_t count, capacity;
    struct texts warnings; /* warnings about words that were not interpreted as written */
};

/* Parses a command line. `settings` has the words from the -config files. Options on the command line override options
   in `settings`. argv is UTF-8, without the program's name and -config. Fails with E_INVALIDARG and a message that
   names the word, or with E_OUTOFMEMORY. *out must be freed even after a failure. */
HRESULT logman_line_read(const struct texts *settings, int argc, char **argv, struct logman_line *out);
void logman_line_free(struct logman_line *line);
/* Returns the last option whose `use` is the argument; NULL if the line has no such option. */
const struct logman_option *logman_option(const struct logman_line *line, enum logman_use use);
bool logman_is_given(const struct logman_line *line, enum logman_use use); /* true if the option is given and not
                                                                              negated */

/* Functions that parse the values of logman's options: numbers, times, days and modes. `option` is the option's name
   for error messages. Numbers are decimal, or hexadecimal after 0x. */
bool logman_number(const char *word, uint64_t *out);
HRESULT logman_u32(const char *option, const char *word, uint32_t *out);
/* Parses "ss", "mm:ss" or "hh:mm:ss" as seconds. Each part may exceed 59. Seconds may have a fraction, which must be 0.
   Fails with E_INVALIDARG. */
HRESULT logman_time(const char *option, const char *word, uint32_t *out);
/* Parses "nnnnnn" (or nnnnn) or "mmddhhmm". *format becomes a bit of AutoPathFormat. */
bool logman_version(const char *word, uint32_t *format);
/* Parses one to three words: a date (m/d/yyyy, yyyy-mm-dd, dd.mm.yyyy, or d/m/yyyy if unambiguous), a time of day, or
   both. *day is the whole days of a DATE, or 0 without a date. *time is a fraction of a day, or -1 without a time.
   Fails with E_INVALIDARG. */
HRESULT logman_moment(const char *option, const struct texts *words, double *day, double *time);
/* Parses the words and numbers of -mode, separated by '|', as bits of EVENT_TRACE_LOGFILE's LogFileMode. Fails with
   E_INVALIDARG. */
HRESULT logman_mode(const char *words, uint32_t *out);

#endif
