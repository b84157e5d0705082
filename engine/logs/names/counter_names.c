/* SPDX-License-Identifier: MIT */
/* Finds the English names of translated counters, and counts how many of a log's names were recognized.

   Each name is looked up first in the lists of the log's computer and then in the built-in table. The object is looked
   up before the counter. Perflib has one list for objects and counters. Therefore a translated name can occur in that
   list several times, with different English names. The built-in table then decides which English name is right. If the
   table does not decide, the name stays unchanged. */
#include "engine/logs/counter_names.h"

#include "engine/base/assert.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/names/names_parts.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7 /* English and the languages of the built-in table */ };

struct table_row {
    bool is_object;
    const char *names[COLUMNS]; /* the English name, then the names in the table's other languages */
};
static const struct table_row rows[] = {
#define NAMES_OBJECT(...)  {true, {__VA_ARGS__}},
#define NAMES_COUNTER(...) {false, {__VA_ARGS__}},
#include "engine/logs/names/counter_names.def"
};
/* Pairs of objects. A name that is not found among the counters of the first object is also searched among the counters
   of the second object. */
static const char *const shared[][2] = {
#define NAMES_SHARED(object, other) {object, other},
#include "engine/logs/names/counter_names.def"
};
static const struct {
    const char *name;
    uint32_t langid; /* primary language id */
} languages[] = {
    {"English", LANGID_ENGLISH},
#define NAMES_LANGUAGE(name, langid) {name, langid},
#include "engine/logs/names/counter_names.def"
    /* languages that occur only in name files, not in the built-in table */
    {"Chinese", 0x04},
    {"Czech", 0x05},
    {"Danish", 0x06},
    {"Dutch", 0x13},
    {"Finnish", 0x0B},
    {"Greek", 0x08},
    {"Hungarian", 0x0E},
    {"Japanese", 0x11},
    {"Korean", 0x12},
    {"Norwegian", 0x14},
    {"Russian", 0x19},
    {"Swedish", 0x1D},
    {"Turkish", 0x1F},
    {"Ukrainian", 0x22},
};
enum { ALL_LANGUAGES = sizeof languages / sizeof *languages };
_Static_assert(ALL_LANGUAGES < NAMES_SOME, "a mask of 32 bits has a bit for each language");

struct counter_names {
    struct local_names built_in, of_files;
};

/* ---- the tables ---- */

HRESULT local_names_add(struct local_names *t, const char *name, const char *english, const char *object,
                        uint32_t language)
{
    char folded[NAMES_LONGEST];
    void *items = t->items;
    if (!name || !name_fold(name, folded) || !*folded)
        return S_OK;
    if (!memory_grow(&items, &t->capacity, t->count + 1, sizeof *t->items))
        return E_OUTOFMEMORY;
    t->items = items;
    t->items[t->count] = (struct local_name){text_copy(folded), english, object, language};
    if (!t->items[t->count].folded)
        return E_OUTOFMEMORY;
    t->count++;
    return S_OK;
}

static int compare_names(const void *left, const void *right)
{
    const struct local_name *a = left, *b = right;
    const int order = strcmp(a->folded, b->folded);
    return order ? order : (a->language > b->language) - (a->language < b->language);
}

void local_names_sort(struct local_names *t)
{
    if (t->count > 1)
        qsort(t->items, t->count, sizeof *t->items, compare_names);
}

const struct local_name *local_names_find(const struct local_names *t, const char *folded, size_t *count)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(t->items[middle].folded, folded) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < t->count && !strcmp(t->items[low + *count].folded, folded))
        ++*count;
    return *count ? &t->items[low] : NULL;
}

void local_names_free(struct local_names *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->items[i].folded);
    memory_free(t->items);
    texts_free(&t->texts);
    *t = (struct local_names){0};
}

static HRESULT add_built_in(struct local_names *t)
{
    HRESULT hr = S_OK;
    const char *object = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && SUCCEEDED(hr); i++) {
        object = rows[i].is_object ? rows[i].names[0] : object;
        for (uint32_t k = 0; k < COLUMNS && SUCCEEDED(hr); k++)
            hr = local_names_add(t, rows[i].names[k], rows[i].names[0], rows[i].is_object ? NULL : object, k);
    }
    local_names_sort(t);
    return hr;
}

static uint32_t language_of(uint32_t langid)
{
    for (uint32_t i = 0; i < ALL_LANGUAGES; i++)
        if (langid && languages[i].langid == langid)
            return i;
    return NAMES_SOME;
}

static const struct indexed_name *find_index(const struct name_list *list, uint32_t index)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list->items[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->items[low].index == index ? &list->items[low] : NULL;
}

/* Returns the English list; NULL: no English list was read, or the list contains no names. */
static const struct name_list *english_list(const struct name_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        if (lists->items[i]->langid == LANGID_ENGLISH && lists->items[i]->count)
            return lists->items[i];
    return NULL;
}

/* Adds the names of each list with the English names that have the same index. */
static HRESULT add_lists(struct local_names *t, const struct name_lists *lists)
{
    const struct name_list *english = english_list(lists);
    HRESULT hr = S_OK;
    for (size_t i = 0; i < english->count && SUCCEEDED(hr); i++)
        hr = texts_add(&t->texts, english->items[i].name);
    for (size_t i = 0; i < english->count && SUCCEEDED(hr); i++)
        hr = local_names_add(t, t->texts.items[i], t->texts.items[i], NULL, NAMES_ENGLISH);
    for (size_t l = 0; l < lists->count && SUCCEEDED(hr); l++) {
        const struct name_list *list = lists->items[l];
        for (size_t i = 0; list != english && i < list->count && SUCCEEDED(hr); i++) {
            const struct indexed_name *same = find_index(english, list->items[i].index);
            if (same && list->langid != LANGID_ENGLISH)
                hr = local_names_add(t, list->items[i].name, t->texts.items[same - english->items], NULL,
                                     language_of(list->langid));
        }
    }
    local_names_sort(t);
    return hr;
}

static HRESULT read_file(struct name_lists *lists, const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    HRESULT hr = file_load(path, NAMES_FILE_BYTES, &bytes, &size);
    if (SUCCEEDED(hr))
        hr = name_lists_read(lists, path, bytes, size);
    memory_free(bytes);
    return hr;
}

/* Reads the perfc009.dat in the folder of `path`, which is a file such as perfc007.dat. */
static HRESULT read_english_beside(struct name_lists *lists, const char *path)
{
    static const char *const names[] = {"perfc009.dat", "PERFC009.DAT", "Perfc009.dat"};
    HRESULT hr = S_OK;
    char *folder = path_folder(path);
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found && SUCCEEDED(hr); i++) {
        char *beside = folder ? path_join(folder, names[i]) : NULL;
        found = beside && file_exists(beside);
        hr = !beside ? E_OUTOFMEMORY : found ? read_file(lists, beside) : S_OK;
        memory_free(beside);
    }
    memory_free(folder);
    return hr;
}

static HRESULT read_files(struct local_names *t, const struct texts *files)
{
    struct name_lists lists = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < files->count && SUCCEEDED(hr); i++)
        hr = read_file(&lists, files->items[i]);
    if (SUCCEEDED(hr) && !english_list(&lists))
        hr = read_english_beside(&lists, files->items[0]);
    if (SUCCEEDED(hr) && !english_list(&lists))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot use '%s': it has no English names (export the whole key Perflib with 009, or add "
                       "perfc009.dat of the same computer)",
                       files->items[0]);
    if (SUCCEEDED(hr))
        hr = add_lists(t, &lists);
    bool some = false;
    for (size_t i = 0; i < t->count && !some; i++)
        some = t->items[i].language != NAMES_ENGLISH;
    if (SUCCEEDED(hr) && !some)
        hr =
            error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                      "cannot use '%s': it has only English names (export the whole key Perflib, or add the perfc file "
                      "of the log's language)",
                      files->items[0]);
    name_lists_free(&lists);
    return hr;
}

HRESULT counter_names_create(const struct texts *files, struct counter_names **out)
{
    struct counter_names *n = memory_zero(1, sizeof *n);
    HRESULT hr = n ? add_built_in(&n->built_in) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && files && files->count)
        hr = read_files(&n->of_files, files);
    const struct error_kept why = error_keep(hr);
    if (FAILED(hr)) {
        counter_names_free(n);
        n = NULL;
    }
    *out = n;
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

void counter_names_free(struct counter_names *n)
{
    if (!n)
        return;
    local_names_free(&n->built_in);
    local_names_free(&n->of_files);
    memory_free(n);
}

/* ---- looking up a name ---- */

enum found { FOUND_NOTHING, FOUND_ONE, FOUND_SEVERAL };
struct answer {
    const char *english; /* valid for FOUND_ONE */
    bool is_foreign;     /* the English name differs from the given name */
    uint32_t languages;  /* languages of all entries with this name */
};

/* Returns whether a built-in entry belongs to the object. If `object` is NULL, returns whether the entry itself is an
   object. */
static bool is_of(const struct local_name *entry, const char *object)
{
    return object && entry->object ? text_equal_nocase(entry->object, object) : object == entry->object;
}

static enum found find_built_in_of(const struct counter_names *n, const char *folded, const char *object,
                                   struct answer *out)
{
    size_t count;
    const struct local_name *entries = local_names_find(&n->built_in, folded, &count);
    *out = (struct answer){0};
    bool several = false, is_english = false;
    for (size_t i = 0; i < count; i++) {
        if (!is_of(&entries[i], object))
            continue;
        out->languages |= UINT32_C(1) << entries[i].language;
        is_english |= entries[i].language == NAMES_ENGLISH;
        if (!is_english) {
            several |= out->english && strcmp(out->english, entries[i].english) != 0;
            out->english = entries[i].english;
            out->is_foreign = true;
        } else if (entries[i].language == NAMES_ENGLISH) {
            out->english = entries[i].english;
        }
    }
    return !out->english ? FOUND_NOTHING : several ? FOUND_SEVERAL : FOUND_ONE;
}

static enum found find_built_in(const struct counter_names *n, const char *folded, const char *object,
                                struct answer *out)
{
    enum found found = find_built_in_of(n, folded, object, out);
    for (size_t i = 0; object && found == FOUND_NOTHING && i < sizeof shared / sizeof *shared; i++)
        if (text_equal_nocase(shared[i][0], object))
            found = find_built_in_of(n, folded, shared[i][1], out);
    return found;
}

/* Returns whether the built-in table has this English name for the object. */
static bool is_known(const struct counter_names *n, const char *english, const char *object)
{
    char folded[NAMES_LONGEST];
    struct answer a;
    return name_fold(english, folded) && find_built_in(n, folded, object, &a) == FOUND_ONE && !a.is_foreign;
}

/* Chooses one of several English names in a computer's lists: the one that the built-in table has, otherwise the one
   that equals the given name. */
static enum found choose(const struct counter_names *n, const struct local_name *entries, size_t count,
                         const char *folded, const char *object, struct answer *out)
{
    const char *known = NULL, *same = NULL;
    bool several = false;
    for (size_t i = 0; i < count; i++) {
        char other[NAMES_LONGEST];
        if (is_known(n, entries[i].english, object)) {
            several |= known && strcmp(known, entries[i].english) != 0;
            known = entries[i].english;
        }
        if (name_fold(entries[i].english, other) && !strcmp(other, folded))
            same = entries[i].english;
    }
    out->english = known ? known : same;
    return out->english && !several ? FOUND_ONE : FOUND_SEVERAL;
}

static enum found find_in_files(const struct counter_names *n, const char *folded, const char *object,
                                struct answer *out)
{
    size_t count;
    const struct local_name *entries = local_names_find(&n->of_files, folded, &count);
    bool several = false;
    *out = (struct answer){0};
    for (size_t i = 0; i < count; i++) {
        const bool is_english = entries[i].language == NAMES_ENGLISH;
        out->languages |= UINT32_C(1) << entries[i].language;
        if (is_english && out->english)
            continue;
        several |= !is_english && out->is_foreign && strcmp(out->english, entries[i].english) != 0;
        out->english = entries[i].english;
        out->is_foreign |= !is_english;
    }
    if (!count)
        return FOUND_NOTHING;
    const enum found found = several ? choose(n, entries, count, folded, object, out) : FOUND_ONE;
    char own[NAMES_LONGEST];
    out->is_foreign = found == FOUND_ONE && !(name_fold(out->english, own) && !strcmp(own, folded));
    return found;
}

static enum found find_name(const struct counter_names *n, const char *folded, const char *object, struct answer *out)
{
    enum found found = find_in_files(n, folded, object, out);
    if (found == FOUND_NOTHING)
        found = find_built_in(n, folded, object, out);
    assert(found != FOUND_ONE || out->english);
    return found;
}

/* Returns whether a counter of any object has this name in another language, and no counter has it in English. */
static bool is_foreign_counter(const struct counter_names *n, const char *folded)
{
    size_t count;
    const struct local_name *entries = local_names_find(&n->built_in, folded, &count);
    return count && entries[0].language != NAMES_ENGLISH;
}

static uint32_t foreign(uint32_t mask)
{
    return mask & ~(UINT32_C(1) << NAMES_ENGLISH);
}

static void find_names(const struct counter_names *n, const char *object, const char *counter, struct english_name *out)
{
    char folded_object[NAMES_LONGEST], folded_counter[NAMES_LONGEST];
    struct answer o, c;
    *out = (struct english_name){0};
    if (!object || !counter || !name_fold(object, folded_object) || !name_fold(counter, folded_counter))
        return;
    const enum found found = find_name(n, folded_object, NULL, &o);
    if (found != FOUND_ONE) {
        out->is_unknown =
            found == FOUND_SEVERAL || is_foreign_counter(n, folded_counter) || name_has_foreign_letter(object);
        out->languages = o.languages;
        return;
    }
    out->object = o.is_foreign ? o.english : NULL;
    out->languages = o.languages;
    if (strpbrk(counter, "*?"))
        return;
    if (find_name(n, folded_counter, o.english, &c) != FOUND_ONE) {
        out->is_unknown = foreign(o.languages) != 0 || name_has_foreign_letter(counter);
        return;
    }
    out->counter = c.is_foreign ? c.english : NULL;
    /* Programs that search for English names distinguish case, but the Italian name "Working set" differs from the
       English "Working Set" only in case. Therefore the English spelling is returned. */
    if (out->object && strcmp(counter, c.english) != 0)
        out->counter = c.english;
    if (out->counter && strcmp(object, o.english) != 0)
        out->object = o.english;
    if (!out->object && !out->counter)
        out->languages = UINT32_C(1) << NAMES_ENGLISH;
    else if (o.languages & c.languages)
        out->languages = o.languages & c.languages;
    else
        out->languages = out->object ? o.languages : c.languages;
}

static HRESULT find_in_code_page(const struct counter_names *n, const char *object, const char *counter, size_t k,
                                 struct english_name *out)
{
    char *other_object, *other_counter = NULL;
    HRESULT hr = name_in_code_page(object, k, &other_object);
    if (SUCCEEDED(hr))
        hr = name_in_code_page(counter, k, &other_counter);
    if (SUCCEEDED(hr) && (other_object || other_counter))
        find_names(n, other_object ? other_object : object, other_counter ? other_counter : counter, out);
    memory_free(other_object);
    memory_free(other_counter);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT counter_names_find(const struct counter_names *n, const char *object, const char *counter,
                           struct english_name *out)
{
    HRESULT hr = S_OK;
    find_names(n, object, counter, out);
    for (size_t k = 0; object && counter && out->is_unknown && k < NAME_CODE_PAGES && SUCCEEDED(hr); k++) {
        struct english_name other = {.is_unknown = true};
        hr = find_in_code_page(n, object, counter, k, &other);
        if (SUCCEEDED(hr) && !other.is_unknown && (other.object || other.counter))
            *out = other;
    }
    return hr;
}

HRESULT counter_names_path(const struct counter_names *n, const char *path, char **out)
{
    struct counter_path parts;
    struct english_name english;
    *out = NULL;
    if (counter_path_parse(path, &parts) != ERROR_SUCCESS)
        return S_FALSE;
    HRESULT hr = counter_names_find(n, parts.object, parts.counter, &english);
    if (SUCCEEDED(hr) && !english.object && !english.counter)
        hr = S_FALSE;
    if (hr == S_OK) {
        struct counter_path other = parts;
        other.object = english.object ? (char *)english.object : parts.object;
        other.counter = english.counter ? (char *)english.counter : parts.counter;
        *out = counter_path_format(&other);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    counter_path_free(&parts);
    return hr;
}

/* ---- the summary of a log's names ---- */

#define ADVICE " (add the counter names of the log's computer with -names)"

/* Counts a name. `of` is the mask of the languages to which the name can belong. If there are too many different sets
   of languages, the last element counts the names of all further sets. */
static void count_kind(struct names_count *kinds, size_t *count, uint32_t of)
{
    size_t i = 0;
    while (i < *count && kinds[i].languages != of && i + 1 < NAMES_MOST_KINDS)
        i++;
    if (i == *count) {
        kinds[i] = (struct names_count){of, 0};
        ++*count;
    }
    kinds[i].count++;
}

HRESULT names_summary_add(struct names_summary *s, const struct counter_names *n, const struct log_counter *counter)
{
    struct english_name english;
    const HRESULT hr = counter_names_find(n, counter->object, counter->counter, &english);
    if (FAILED(hr))
        return hr;
    s->own |= n->of_files.count != 0;
    s->total++;
    s->foreign += (counter->object && name_has_foreign_letter(counter->object)) ||
                  (counter->counter && name_has_foreign_letter(counter->counter));
    if (!english.is_unknown) {
        if (english.object || english.counter)
            count_kind(s->understood, &s->understood_kinds, foreign(english.languages));
        return S_OK;
    }
    count_kind(s->unknown, &s->unknown_kinds, foreign(english.languages));
    if (s->examples.count == NAMES_MOST_EXAMPLES)
        return S_OK;
    char *path = log_counter_path(counter);
    s->example_languages[s->examples.count] = foreign(english.languages);
    return path ? texts_add_owned(&s->examples, path) : E_OUTOFMEMORY;
}

static const char *language_name(uint32_t language)
{
    return language < ALL_LANGUAGES ? languages[language].name : "translated";
}

/* Returns the language to which most of the remaining recognized names can belong; NAMES_SOME + 1: no names remain. */
static uint32_t most_frequent(const struct names_summary *s, uint32_t done, size_t *count)
{
    uint32_t best = NAMES_SOME + 1;
    *count = 0;
    for (uint32_t language = 1; language <= NAMES_SOME; language++) {
        size_t of = 0;
        for (size_t i = 0; i < s->understood_kinds; i++)
            if (!(s->understood[i].languages & done) && (s->understood[i].languages >> language & 1))
                of += s->understood[i].count;
        if (of > *count) {
            best = language;
            *count = of;
        }
    }
    return best;
}

/* Adds a text such as "14 of 82 counters are German, 2 are French, and were understood". Returns a mask of the
   languages in the text. */
static uint32_t add_understood(const struct names_summary *s, struct text_buffer *b)
{
    uint32_t done = 0;
    size_t count, all = 0, kinds = 0;
    for (uint32_t language; (language = most_frequent(s, done, &count)) <= NAMES_SOME; kinds++) {
        if (!kinds)
            text_buffer_format(b, "%zu of %zu counters", count, s->total);
        else
            text_buffer_format(b, ", %zu", count);
        text_buffer_format(b, " %s %s", count == 1 ? "is" : "are", language_name(language));
        done |= UINT32_C(1) << language;
        all += count;
    }
    text_buffer_format(b, "%s and %s understood", kinds > 1 ? "," : "", all == 1 ? "was" : "were");
    return done;
}

/* Adds the unknown names whose language is one of the log's languages or is not known. */
static void add_unknown(const struct names_summary *s, uint32_t detected, struct text_buffer *b)
{
    enum { SHOWN = 3 };
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < s->unknown_kinds; i++)
        if (!s->unknown[i].languages || (s->unknown[i].languages & detected))
            count += s->unknown[i].count;
    if (!count)
        return;
    text_buffer_format(b, "; %zu %s not", count, count == 1 ? "was" : "were");
    for (size_t i = 0; i < s->examples.count && shown < SHOWN; i++)
        if (!s->example_languages[i] || (s->example_languages[i] & detected))
            text_buffer_format(b, "%s '%s'", shown++ ? "," : ":", s->examples.items[i]);
    text_buffer_format(b, "%s%s", count > shown ? ", ..." : "", s->own ? "" : ADVICE);
}

HRESULT names_summary_text(const struct names_summary *s, char **out)
{
    struct text_buffer b = {0};
    *out = NULL;
    if (s->understood_kinds)
        add_unknown(s, add_understood(s, &b), &b);
    else if (s->foreign > s->total / 2)
        text_buffer_format(&b, "%zu of %zu counters are not English and were not understood%s", s->foreign, s->total,
                           s->own ? "" : ADVICE);
    else
        return S_FALSE;
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

void names_summary_free(struct names_summary *s)
{
    texts_free(&s->examples);
    *s = (struct names_summary){0};
}
