/* SPDX-License-Identifier: MIT */
/* Parses a command line: the verb can be anywhere, options begin with a dash or slash, and lists extend to the next
   option. This file also parses the values of options, which are numbers, times, days and modes. */
#include "cli/logman/line.h"

#include "cli/cli.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/pla/model.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

bool logman_number(const char *word, uint64_t *out)
{
    uint64_t value = 0;
    if (word[0] != '0' || (word[1] | 0x20) != 'x')
        return text_to_u64(word, out);
    const char *digit = word + 2;
    for (; isxdigit((unsigned char)*digit); digit++) {
        const unsigned d = (unsigned char)*digit;
        if (value >> 60)
            return false;
        value = value << 4 | (d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    *out = value;
    return digit != word + 2 && *digit == 0;
}

HRESULT logman_u32(const char *option, const char *word, uint32_t *out)
{
    uint64_t value;
    if (!logman_number(word, &value) || value > UINT32_MAX)
        return error_set(E_INVALIDARG, "-%s: invalid number '%s': expected a whole number from %u to %u", option, word,
                         0u, (unsigned)UINT32_MAX);
    *out = (uint32_t)value;
    return S_OK;
}

static HRESULT no_time(const char *option, const char *word)
{
    return error_set(E_INVALIDARG, "-%s: invalid time '%s': expected seconds, mm:ss or hh:mm:ss", option, word);
}

HRESULT logman_time(const char *option, const char *word, uint32_t *out)
{
    uint64_t seconds = 0;
    const char *at = word;
    for (unsigned parts = 1;; parts++) {
        uint64_t part = 0;
        const char *digit = at;
        for (; *digit >= '0' && *digit <= '9' && part <= UINT32_MAX; digit++)
            part = part * 10 + (uint64_t)(*digit - '0');
        seconds = seconds * 60 + part;
        if (digit == at || part > UINT32_MAX || seconds > UINT32_MAX || parts > 3)
            return no_time(option, word);
        at = digit + 1;
        if (*digit == ':')
            continue;
        /* Some programs write whole seconds as "28800.0". */
        if (*digit == '.' && *at)
            digit = at + strspn(at, "0");
        if (*digit != 0)
            return no_time(option, word);
        *out = (uint32_t)seconds;
        return S_OK;
    }
}

bool logman_version(const char *word, uint32_t *format)
{
    enum { SERIAL_NUMBER = 0x200, MONTH_DAY_HOUR_MINUTE = 0x4000 };
    if (text_equal_nocase(word, "nnnnnn") || text_equal_nocase(word, "nnnnn"))
        *format = SERIAL_NUMBER;
    else if (text_equal_nocase(word, "mmddhhmm"))
        *format = MONTH_DAY_HOUR_MINUTE;
    else
        return false;
    return true;
}

/* ---- times ---- */

static bool is_half_of_day(const char *word)
{
    return text_equal_nocase(word, "AM") || text_equal_nocase(word, "PM");
}

/* Returns true if the word can be part of a time: a date, a time of day, AM or PM. */
static bool logman_is_moment(const char *word)
{
    return is_half_of_day(word) || (*word >= '0' && *word <= '9' && strpbrk(word, ":/-.") != NULL);
}

static bool read_day(const char *word, double *day)
{
    unsigned a, b, c;
    char text[24], end;
    const bool slashes = sscanf(word, "%2u/%2u/%4u%c", &a, &b, &c, &end) == 3;
    const bool points = !slashes && sscanf(word, "%2u.%2u.%4u%c", &a, &b, &c, &end) == 3;
    if (points || (slashes && a > 12))
        snprintf(text, sizeof text, "%u/%u/%u", b, a, c);
    else
        text_fit(text, sizeof text, word);
    return date_from_text(text, day);
}

static bool read_time(const char *word, const char *half, double *time)
{
    char text[40];
    if (strlen(word) + 4 >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%s%s%s", word, half ? " " : "", half ? half : "");
    return time_from_text(text, time);
}

HRESULT logman_moment(const char *option, const struct texts *words, double *day, double *time)
{
    struct texts pieces = {0};
    HRESULT hr = S_OK;
    *day = 0;
    *time = -1;
    /* If the user quoted the time, one word contains all parts, so the words are split at spaces. */
    for (size_t i = 0; i < words->count && SUCCEEDED(hr); i++)
        for (const char *at = words->items[i]; *at && SUCCEEDED(hr); at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            char *piece = text_copy_n(at, length);
            hr = piece ? texts_add_owned(&pieces, piece) : E_OUTOFMEMORY;
            at += length;
        }
    bool right = pieces.count != 0;
    for (size_t i = 0; i < pieces.count && right; i++) {
        const char *piece = pieces.items[i], *half = NULL;
        if (i + 1 < pieces.count && is_half_of_day(pieces.items[i + 1]))
            half = pieces.items[i + 1];
        if (*day == 0 && *time < 0 && read_day(piece, day))
            continue;
        right = *time < 0 && read_time(piece, half, time);
        i += half != NULL;
    }
    if (SUCCEEDED(hr) && !right)
        hr = error_set(E_INVALIDARG, "-%s: invalid date and time '%s': expected, for example, 12/31/2026 11:59:59PM",
                       option, words->count ? words->items[0] : "");
    texts_free(&pieces);
    return hr;
}

/* ---- modes ---- */

HRESULT logman_mode(const char *words, uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } modes[] = {{"sequential", 0x1},
                 {"FILE_MODE_SEQUENTIAL", 0x1},
                 {"circular", 0x2},
                 {"FILE_MODE_CIRCULAR", 0x2},
                 {"append", 0x4},
                 {"FILE_MODE_APPEND", 0x4},
                 {"newfile", 0x8},
                 {"FILE_MODE_NEWFILE", 0x8},
                 {"preallocate", 0x20},
                 {"FILE_MODE_PREALLOCATE", 0x20},
                 {"nonstoppable", 0x40},
                 {"NONSTOPPABLE_MODE", 0x40},
                 {"secure", 0x80},
                 {"SECURE_MODE", 0x80},
                 {"realtime", 0x100},
                 {"REAL_TIME_MODE", 0x100},
                 {"delayopenfile", 0x200},
                 {"DELAY_OPEN_FILE_MODE", 0x200},
                 {"bufferonly", 0x400},
                 {"buffering", 0x400},
                 {"BUFFERING_MODE", 0x400},
                 {"private", 0x800},
                 {"PRIVATE_LOGGER_MODE", 0x800},
                 {"kernelfilter", 0x1000},
                 {"usekbytes", 0x2000},
                 {"USE_KBYTES_FOR_SIZE", 0x2000},
                 {"globalsequence", 0x4000},
                 {"USE_GLOBAL_SEQUENCE", 0x4000},
                 {"localsequence", 0x8000},
                 {"USE_LOCAL_SEQUENCE", 0x8000},
                 {"relog", 0x10000},
                 {"RELOG_MODE", 0x10000},
                 {"privateinproc", 0x20000},
                 {"PRIVATE_IN_PROC", 0x20000},
                 {"pagedmemory", 0x1000000},
                 {"USE_PAGED_MEMORY", 0x1000000},
                 {"systemlogger", 0x2000000},
                 {"SYSTEM_LOGGER_MODE", 0x2000000},
                 {"independent", 0x8000000},
                 {"INDEPENDENT_SESSION_MODE", 0x8000000},
                 {"NO_PER_PROCESSOR_BUFFERING", 0x10000000},
                 {"addtotriagedump", 0x80000000},
                 {"ADDTO_TRIAGE_DUMP", 0x80000000}};
    static const char prefix[] = "EVENT_TRACE_";
    *out = 0;
    for (const char *at = words; *at;) {
        char word[64];
        at += strspn(at, " |");
        size_t length = strcspn(at, "|"), kept = length;
        while (kept && at[kept - 1] == ' ')
            kept--;
        if (kept >= sizeof word)
            return error_set(E_INVALIDARG, "-mode: unknown mode '%s'", words);
        memcpy(word, at, kept);
        word[kept] = 0;
        at += length;
        uint64_t bits = 0;
        const char *name = strncmp(word, prefix, sizeof prefix - 1) == 0 ? word + sizeof prefix - 1 : word;
        bool found = kept == 0 || (logman_number(word, &bits) && bits <= UINT32_MAX);
        for (size_t i = 0; i < sizeof modes / sizeof *modes && !found; i++)
            if (text_equal_nocase(modes[i].name, name)) {
                bits = modes[i].bits;
                found = true;
            }
        if (!found)
            return error_set(
                E_INVALIDARG,
                "-mode: unknown mode '%s': expected, for example, sequential, circular, newfile or realtime", word);
        *out |= (uint32_t)bits;
    }
    return S_OK;
}

/* ---- the line ---- */

#define EN_DASH     "\xE2\x80\x93"
#define EM_DASH     "\xE2\x80\x94"
#define LEFT_QUOTE  "\xE2\x80\x9C"
#define RIGHT_QUOTE "\xE2\x80\x9D"

static bool is_version(const char *word)
{
    uint32_t format;
    return logman_version(word, &format);
}

static bool is_size(const char *word)
{
    uint64_t number;
    return logman_number(word, &number);
}

static bool is_time(const char *word)
{
    uint32_t seconds;
    return SUCCEEDED(logman_time("", word, &seconds));
}

#define ON(verb)  (1u << LOGMAN_##verb)
#define ON_CHANGE (ON(CREATE) | ON(UPDATE))
#define ON_TRACE  (ON_CHANGE | ON(START)) /* includes ON(START), because starting a session creates it */
#define ON_ALL    0xFFu
#define OF_SET(kind, property)                                                                                         \
    {                                                                                                                  \
        VALUE_##kind, true, property                                                                                   \
    }
#define OF_COLLECTOR(kind, property)                                                                                   \
    {                                                                                                                  \
        VALUE_##kind, false, property                                                                                  \
    }
#define NO_PROPERTY                                                                                                    \
    {                                                                                                                  \
        VALUE_NONE, false, NULL                                                                                        \
    }
const struct logman_row logman_rows[LOGMAN_OPTIONS] = {
#define OPTION(id, ...) {__VA_ARGS__},
#include "cli/logman/options.def"
#undef OPTION
};

const char *logman_form(const struct logman_row *row)
{
    static char formats[64];
    if (row != &logman_rows[LOGMAN_FORMAT])
        return row->form;
    log_format_words(LOG_FOR_SETS, "|", formats, sizeof formats);
    return formats;
}

const struct logman_word logman_verbs[] = {
    {"create", LOGMAN_CREATE}, {"query", LOGMAN_QUERY},   {"start", LOGMAN_START},
    {"stop", LOGMAN_STOP},     {"delete", LOGMAN_DELETE}, {"update", LOGMAN_UPDATE},
    {"import", LOGMAN_IMPORT}, {"export", LOGMAN_EXPORT}, {NULL, 0}};
const struct logman_word logman_adverbs[] = {{"counter", LOGMAN_COUNTER},
                                             {"trace", LOGMAN_TRACE},
                                             {"alert", LOGMAN_ALERT},
                                             {"cfg", LOGMAN_CFG},
                                             {"api", LOGMAN_API},
                                             {"providers", LOGMAN_PROVIDERS},
                                             {NULL, 0}};

static const struct logman_word *find_word(const struct logman_word *words, const char *text)
{
    for (; words->name; words++)
        if (text_equal_nocase(words->name, text))
            return words;
    return NULL;
}

/* Returns the string after the dash, or NULL if the word does not begin with a dash. *dashes is 2 for "--". *foreign is
   set for an en or em dash. */
static const char *behind_dash(const char *word, int *dashes, bool *foreign)
{
    *dashes = 1;
    *foreign = strncmp(word, EN_DASH, sizeof EN_DASH - 1) == 0 || strncmp(word, EM_DASH, sizeof EM_DASH - 1) == 0;
    if (*foreign)
        return word + sizeof EN_DASH - 1;
    if (word[0] == '-' && word[1] == '-') {
        *dashes = 2;
        return word + 2;
    }
    return word[0] == '-' || word[0] == '/' ? word + 1 : NULL;
}

static int find_option(const char *word, bool *negated, bool *foreign)
{
    int dashes;
    const char *name = behind_dash(word, &dashes, foreign);
    *negated = false;
    for (int i = 0; name && i < LOGMAN_OPTIONS; i++)
        if (text_equal_nocase(logman_rows[i].name, name) ||
            (logman_rows[i].alias && text_equal_nocase(logman_rows[i].alias, name))) {
            *negated = dashes == 2 && logman_rows[i].negatable;
            return i;
        }
    return -1;
}

/* Returns true if the word must be an option, known or unknown, and not a value. */
static bool is_option(const char *word)
{
    bool negated, foreign;
    int dashes;
    if (find_option(word, &negated, &foreign) >= 0)
        return true;
    const char *name = behind_dash(word, &dashes, &foreign);
    return name && !foreign && word[0] == '-' && *name && (*name < '0' || *name > '9');
}

/* Option names that users and programs use by mistake, with the right option. */
static const char *const meant[][2] = {
    {"task", "-rc, or -tn for an alert"},
    {"duration", "-rf"},
    {"interval", "-si"},
    {"counter", "-c"},
    {"counters", "-c"},
    {"samples", "-sc"},
    {"output", "-o"},
    {"format", "-f"},
    {"provider", "-p"},
    {"flags", "the word after -p PROVIDER"},
    {"level", "the second word after -p PROVIDER"},
    {"state", "the verb start or stop"},
    {"tr", "-rc with the name of a task"},
    {"circular", "-f bincirc"},
    {"overwrite", "-ow"},
    {"append", "-a"},
    {"size", "-max"},
    {"user", "-u"},
    {"computer", "-s"},
    {"session", "-ets"},
    {"daily", "-r"},
};

static HRESULT no_such_option(const char *word)
{
    int dashes;
    bool foreign;
    struct nearest n = {.word = behind_dash(word, &dashes, &foreign)};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (text_equal_nocase(n.word, meant[i][0]))
            return error_set(E_INVALIDARG, "unknown option '%s' (use %s)", word, meant[i][1]);
    bool circular;
    if (log_format_by_option(n.word, &circular))
        return error_set(E_INVALIDARG, "unknown option '%s' (use -f %s, or openpla relog for an existing log)", word,
                         n.word);
    for (int i = 0; i < LOGMAN_OPTIONS; i++)
        nearest_consider(&n, logman_rows[i].name);
    return n.name ? error_set(E_INVALIDARG, "unknown option '%s' (did you mean -%s?)", word, n.name)
                  : error_set(E_INVALIDARG, "unknown option '%s'", word);
}

/* ---- curly quotes ---- */

static HRESULT line_add_warning(struct logman_line *line, char *text)
{
    return text ? texts_add_owned(&line->warnings, text) : E_OUTOFMEMORY;
}

static bool ends_in_quote(const char *word)
{
    const size_t length = strlen(word), quote = sizeof RIGHT_QUOTE - 1;
    return length >= quote && strcmp(word + length - quote, RIGHT_QUOTE) == 0;
}

/* Joins the word at `i` with the following words up to the one with the closing quote. */
static HRESULT join_quoted(struct logman_line *line, struct texts *words, size_t i)
{
    const size_t quote = sizeof LEFT_QUOTE - 1;
    struct text_buffer b = {0};
    size_t last = i;
    while (last + 1 < words->count && !ends_in_quote(words->items[last]))
        last++;
    if (!ends_in_quote(words->items[last]))
        return S_OK;
    text_buffer_add(&b, words->items[i] + quote);
    for (size_t j = i + 1; j <= last; j++)
        text_buffer_format(&b, " %s", words->items[j]);
    char *joined = text_buffer_take(&b);
    if (!joined)
        return E_OUTOFMEMORY;
    joined[strlen(joined) - quote] = 0;
    for (size_t j = i; j <= last; j++)
        memory_free(words->items[j]);
    words->items[i] = joined;
    memmove(&words->items[i + 1], &words->items[last + 1], (words->count - last - 1) * sizeof *words->items);
    words->count -= last - i;
    return line_add_warning(line, text_format("curly quotes around '%s' are treated as quotes", joined));
}

/* Words that were copied from a web page may have curly quotes, which shells do not treat as quotes. */
static HRESULT join_curly_quotes(struct logman_line *line, struct texts *words)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < words->count && SUCCEEDED(hr); i++)
        if (strncmp(words->items[i], LEFT_QUOTE, sizeof LEFT_QUOTE - 1) == 0)
            hr = join_quoted(line, words, i);
    return hr;
}

/* ---- the words of an option ---- */

struct reader {
    struct texts words;
    size_t at;
    struct logman_line *line;
};

static const char *next(const struct reader *r)
{
    return r->at < r->words.count && !is_option(r->words.items[r->at]) ? r->words.items[r->at] : NULL;
}

static HRESULT take(struct reader *r, struct texts *words)
{
    return texts_add(words, r->words.items[r->at++]);
}

/* Joins flags such as "(process, thread)", which may be split into several words. */
static HRESULT take_flags(struct reader *r, struct texts *words)
{
    struct text_buffer b = {0};
    const char *word = next(r);
    bool open;
    do {
        text_buffer_add(&b, word);
        r->at++;
        if (b.failed)
            break;
        open = *b.text == '(' ? !strchr(word, ')') : *word && word[strlen(word) - 1] == ',';
    } while (open && (word = next(r)) != NULL);
    char *flags = text_buffer_take(&b);
    return flags ? texts_add_owned(words, flags) : E_OUTOFMEMORY;
}

static HRESULT take_provider(struct reader *r, struct texts *words)
{
    HRESULT hr = take(r, words);
    if (SUCCEEDED(hr) && next(r))
        hr = take_flags(r, words);
    if (SUCCEEDED(hr) && next(r))
        hr = take(r, words);
    return hr;
}

static HRESULT take_words(struct reader *r, const struct logman_row *row, struct texts *words)
{
    HRESULT hr = S_OK;
    if (row->words == WORDS_NONE || (row->words == WORDS_MAYBE && !(next(r) && row->is_value(next(r)))))
        return S_OK;
    /* The next word is the option's value even if it begins with a dash, unless the word is the name of an option. */
    bool negated, foreign;
    if (r->at >= r->words.count || find_option(r->words.items[r->at], &negated, &foreign) >= 0)
        return error_set(E_INVALIDARG, "-%s: missing value", row->name);
    switch (row->words) {
    case WORDS_PROVIDER:
        return take_provider(r, words);
    case WORDS_ALL:
        do
            hr = take(r, words);
        while (SUCCEEDED(hr) && next(r));
        return hr;
    case WORDS_MOMENT:
        do
            hr = take(r, words);
        while (SUCCEEDED(hr) && words->count < 3 && next(r) && logman_is_moment(next(r)));
        return hr;
    default:
        hr = take(r, words);
        if (SUCCEEDED(hr) && row->words == WORDS_TWO && next(r))
            hr = take(r, words);
        return hr;
    }
}

static HRESULT add_option(struct reader *r, int use, bool negated)
{
    struct logman_line *line = r->line;
    const struct logman_row *row = &logman_rows[use];
    void *options = line->options;
    if (!memory_grow(&options, &line->capacity, line->count + 1, sizeof *line->options))
        return E_OUTOFMEMORY;
    line->options = options;
    struct logman_option *o = &line->options[line->count++];
    *o = (struct logman_option){.use = (enum logman_use)use, .negated = negated};
    if (!negated)
        return take_words(r, row, &o->words);
    /* Flags and a level may follow the name of the event provider to remove; they are ignored. */
    if (row->words == WORDS_PROVIDER)
        return next(r) ? take_provider(r, &o->words) : error_set(E_INVALIDARG, "--p: missing provider");
    /* A value after --name, as in "--max 100", is also ignored. */
    if (row->is_value && next(r) && row->is_value(next(r)))
        r->at++;
    return S_OK;
}

/* ---- operands ---- */

static HRESULT give_name(struct logman_line *line, const char *word)
{
    memory_free(line->name);
    line->name = text_copy(word);
    return line->name ? S_OK : E_OUTOFMEMORY;
}

struct operands {
    struct texts words;
    const struct logman_word *verb, *adverb;
};

/* Reports too many words. One of the two words may be a mistyped verb or, after a verb, a mistyped collector type. */
static HRESULT too_many_words(const struct logman_line *line, const struct operands *o, const char *word)
{
    const char *const both[] = {line->name, word};
    const struct logman_word *const known = !line->verb_given ? logman_verbs : !o->adverb ? logman_adverbs : NULL;
    for (size_t i = 0; known && i < sizeof both / sizeof *both; i++) {
        struct nearest n = {.word = both[i]};
        for (const struct logman_word *w = known; w->name; w++)
            nearest_consider(&n, w->name);
        if (n.name)
            return error_set(E_INVALIDARG, "unknown %s '%s' (did you mean '%s'?)",
                             line->verb_given ? "collector type" : "verb", both[i], n.name);
    }
    return error_set(E_INVALIDARG, "unexpected argument '%s': the name is already '%s'", word, line->name);
}

static HRESULT take_operands(struct logman_line *line, struct operands *o)
{
    HRESULT hr = S_OK;
    size_t at = 0;
    bool named = false;
    /* The verb may follow the name, as in "logman ktl start". */
    for (size_t i = 0; i < o->words.count && !o->verb; i++) {
        o->verb = find_word(logman_verbs, o->words.items[i]);
        if (o->verb)
            *o->words.items[i] = 0;
    }
    line->verb_given = o->verb != NULL;
    line->verb = o->verb ? (enum logman_verb)o->verb->value : LOGMAN_QUERY;
    for (; at < o->words.count && SUCCEEDED(hr); at++) {
        const char *word = o->words.items[at];
        const struct logman_word *adverb = o->verb && !named && !o->adverb ? find_word(logman_adverbs, word) : NULL;
        if (!*word)
            continue;
        if (adverb)
            o->adverb = adverb;
        else if (line->name)
            hr = too_many_words(line, o, word);
        else
            hr = give_name(line, word);
        named = !adverb;
    }
    line->adverb = o->adverb ? o->adverb->value : 0;
    return hr;
}

static HRESULT read_word(struct reader *r, struct operands *o)
{
    const char *word = r->words.items[r->at];
    bool negated, foreign;
    int dashes;
    const char *name = behind_dash(word, &dashes, &foreign);
    const int use = find_option(word, &negated, &foreign);
    if (use >= 0) {
        r->at++;
        HRESULT hr =
            foreign ? line_add_warning(r->line, text_format("the dash in '%s' is treated as a hyphen", word)) : S_OK;
        return SUCCEEDED(hr) ? add_option(r, use, negated) : hr;
    }
    if (name && (strcmp(name, "?") == 0 || text_equal_nocase(name, "help"))) {
        r->line->help = true;
        r->at++;
        return S_OK;
    }
    /* A verb or adverb may have a dash or slash: "-stop X", "/providers". */
    if (name && (find_word(logman_verbs, name) || find_word(logman_adverbs, name)))
        word = name;
    else if (is_option(word))
        return no_such_option(word);
    r->at++;
    return texts_add(&o->words, word);
}

static HRESULT read_words(struct logman_line *line, struct operands *o, size_t count, char **words)
{
    struct reader r = {.line = line};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = texts_add(&r.words, words[i]);
    if (SUCCEEDED(hr))
        hr = join_curly_quotes(line, &r.words);
    while (SUCCEEDED(hr) && r.at < r.words.count)
        hr = read_word(&r, o);
    texts_free(&r.words);
    return hr;
}

HRESULT logman_line_read(const struct texts *settings, int argc, char **argv, struct logman_line *out)
{
    struct operands o = {0};
    *out = (struct logman_line){0};
    HRESULT hr = read_words(out, &o, settings->count, settings->items);
    if (SUCCEEDED(hr))
        hr = read_words(out, &o, (size_t)argc, argv);
    const struct logman_option *name = logman_option(out, LOGMAN_NAME);
    if (SUCCEEDED(hr) && name)
        hr = give_name(out, name->words.items[0]);
    if (SUCCEEDED(hr))
        hr = take_operands(out, &o);
    texts_free(&o.words);
    return hr;
}

void logman_line_free(struct logman_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        texts_free(&line->options[i].words);
    memory_free(line->options);
    memory_free(line->name);
    texts_free(&line->warnings);
    *line = (struct logman_line){0};
}

const struct logman_option *logman_option(const struct logman_line *line, enum logman_use use)
{
    const struct logman_option *found = NULL;
    for (size_t i = 0; i < line->count; i++)
        if (line->options[i].use == use)
            found = &line->options[i];
    return found;
}

bool logman_is_given(const struct logman_line *line, enum logman_use use)
{
    const struct logman_option *o = logman_option(line, use);
    return o && !o->negated;
}
