/* SPDX-License-Identifier: MIT */
/* Declarations that the files behind counter_names.h share: the form in which names are compared, and the name
   tables. */
#ifndef OPENPLA_NAMES_PARTS_H
#define OPENPLA_NAMES_PARTS_H

#include "engine/logs/counter_names.h"

#define NAMES_LONGEST  512 /* maximum bytes of a folded name; a longer name counts as unknown */
/* Language number of English. The table's other languages come next, then the languages that only files have. */
#define NAMES_ENGLISH  0
#define NAMES_SOME     31 /* the last language number, for files in an unknown language */
#define LANGID_ENGLISH 0x09

/* Folds a name for comparison: upper case, no accents and marks, normal width, single spaces, and plain apostrophes and
   hyphens. False: the name is too long. */
bool name_fold(const char *name, char out[NAMES_LONGEST]);
/* Corrects a name that was decoded with the wrong code page. A text log is in the ANSI code page of the computer that
   wrote it, but was read with this computer's code page. *out is the name decoded with the k-th code page of
   code_pages.def, from memory_alloc. S_FALSE and NULL: the name is the same, or there is no k-th code page. */
enum { NAME_CODE_PAGES = 4 };
HRESULT name_in_code_page(const char *name, size_t k, char **out);
/* Returns whether the name has a letter that English lacks. */
bool name_has_foreign_letter(const char *name);

struct local_name {
    char *folded;
    const char *english; /* borrowed from `texts` of its table, or a constant */
    const char *object;  /* object that has this counter; NULL: the entry is an object, or it is from a file (files do
                            not distinguish objects from counters) */
    uint32_t language;
};
/* A table of names, sorted by `folded`. */
struct local_names {
    struct local_name *items;
    size_t count, capacity;
    struct texts texts;
};
/* Adds a name. Copies only `name`. Ignores a name that is too long. */
HRESULT local_names_add(struct local_names *t, const char *name, const char *english, const char *object,
                        uint32_t language);
void local_names_sort(struct local_names *t);
/* Returns the first entry with this folded name; *count is the number of such entries. */
const struct local_name *local_names_find(const struct local_names *t, const char *folded, size_t *count);
void local_names_free(struct local_names *t);

/* ---- the files of a computer ---- */
enum { NAMES_FILE_BYTES = 128 << 20, NAMES_MOST = 200000 /* in a list */, NAMES_MOST_LISTS = 32 };

struct indexed_name {
    uint32_t index;
    char *name;
};
/* The names of one language, by index. */
struct name_list {
    uint32_t langid; /* primary language id; 0: unknown */
    struct indexed_name *items;
    size_t count, capacity;
};
/* Zero-initialise. */
struct name_lists {
    struct name_list *items[NAMES_MOST_LISTS];
    size_t count;
};
/* Adds the lists in the bytes of a file. The language of a perfc file is derived from `path`, which is also used in
   messages. Fails with HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and an error message if the file is neither a registry
   export nor a perfc file, or has no names. */
HRESULT name_lists_read(struct name_lists *lists, const char *path, const char *bytes, size_t size);
void name_lists_free(struct name_lists *lists);

#endif
