/* SPDX-License-Identifier: MIT */
/* Shared by the files of counter_names.h: names in the form in which they are compared, and the tables of names. */
#ifndef OPENPLA_NAMES_PARTS_H
#define OPENPLA_NAMES_PARTS_H

#include "engine/logs/counter_names.h"

#define NAMES_LONGEST  512 /* bytes of a name in this form; a longer one is unknown */
#define NAMES_ENGLISH  0   /* number of the language; the table's languages come next, then those of files */
#define NAMES_SOME     31  /* the last one: for files whose language is unknown */
#define LANGID_ENGLISH 0x09

/* In upper case, without accents and marks, in normal width, with single blanks; variants of apostrophe and hyphen are
   replaced. False: too long. */
bool name_fold(const char *name, char out[NAMES_LONGEST]);
/* A text log is in the ANSI code page of the computer that wrote it, but was read in this computer's. *out: the name in
   the k-th of the other code pages (code_pages.def), from memory_alloc. S_FALSE and NULL: no different name, or no such
   code page. */
enum { NAME_CODE_PAGES = 4 };
HRESULT name_in_code_page(const char *name, size_t k, char **out);
/* Whether the name has a letter that English lacks. */
bool name_has_foreign_letter(const char *name);

struct local_name {
    char *folded;
    const char *english; /* borrowed from `texts` of its table, or a constant */
    const char *object;  /* object that has this counter; NULL: it is an object, or it comes from a file, which does not
                            distinguish them */
    uint32_t language;
};
/* Sorted by folded. */
struct local_names {
    struct local_name *items;
    size_t count, capacity;
    struct texts texts;
};
/* Copies `name`. Names that are too long are ignored. */
HRESULT local_names_add(struct local_names *t, const char *name, const char *english, const char *object,
                        uint32_t language);
void local_names_sort(struct local_names *t);
/* The first entry with this folded name; *count of them. */
const struct local_name *local_names_find(const struct local_names *t, const char *folded, size_t *count);
void local_names_free(struct local_names *t);

/* ---- the files of a computer ---- */
enum { NAMES_FILE_BYTES = 128 << 20, NAMES_MOST = 200000 /* in a list */, NAMES_MOST_LISTS = 32 };

struct indexed_name {
    uint32_t index;
    char *name;
};
/* The names of one language by their index. */
struct name_list {
    uint32_t langid; /* primary; 0: unknown */
    struct indexed_name *items;
    size_t count, capacity;
};
/* Zero-initialise. */
struct name_lists {
    struct name_list *items[NAMES_MOST_LISTS];
    size_t count;
};
/* Adds the lists of a file's bytes. The language of a perfc file is derived from `path`, which is also used in
   messages. ERROR_INVALID_DATA's HRESULT with a text: neither form, or it has no names. */
HRESULT name_lists_read(struct name_lists *lists, const char *path, const char *bytes, size_t size);
void name_lists_free(struct name_lists *lists);

#endif
