/* SPDX-License-Identifier: MIT */
/* The pages of the reference, made from the property rows, idl/pla.idl and engine/base/wintypes.h. No dates. */
#ifndef OPENPLA_REFERENCE_H
#define OPENPLA_REFERENCE_H

#include "cli/schemas/schemas.h"
#include "docs/generate/idl.h"
#include "engine/pla/model.h"

#define REFERENCE_REFRESH "cmake --build <build folder> --target generate_reference"

struct reference {
    struct reference_file {
        char *name; /* in docs/reference */
        char *text;
    } * files;
    size_t count, capacity;
};
/* All files. `tree` is the top of the source tree. E_UNEXPECTED when rows and IDL contradict each other. *out is to be
   freed in any case. */
HRESULT reference_make(const char *tree, struct reference *out);
void reference_free(struct reference *r);

/* ---- what the pages are made from ---- */

/* HRESULTs by name, as wintypes.h has them. */
struct codes {
    struct code {
        char *name;
        HRESULT hr;
    } * items;
    size_t count, capacity;
};
const char *code_name(const struct codes *codes, HRESULT hr); /* NULL when it has none */
struct sources {
    struct idl idl;
    struct codes codes;
};

/* Where a member comes from. */
enum member_mark { MARK_ROW, MARK_CODE, MARK_METHOD, MARK_RESERVED, MARK_COUNT };
/* The class whose rows an interface's properties are; NULL: there is none. */
const struct class *interface_class(const char *name);
/* The interface's row of that name; NULL: it has none. */
const struct property *interface_row(const struct idl_interface *i, const char *name);
/* Whether the row is told of on the interface's page: the rows that it inherits are not. */
bool interface_owns_row(const struct idl_interface *i, const struct property *p);
enum member_mark member_mark(const struct idl_interface *i, const struct idl_member *m);

/* What a row of a new object refuses, each result once, with the text that goes with it. */
struct refusals {
    struct refusal {
        HRESULT hr;
        char *text;
    } items[4];
    size_t count;
};

/* A heading as a link's anchor. */
void add_anchor(struct text_buffer *b, const char *heading);
/* The sentence that each file begins with. */
#define REFERENCE_ORIGIN                                                                                               \
    "Made by docs/generate from the property rows and the IDL: change those, then build generate_reference."

/* Each adds the whole text of its file. */
HRESULT object_page(const struct sources *s, const struct idl_interface *i, struct text_buffer *b);
void index_page(const struct sources *s, struct text_buffer *b);
void errors_page(const struct sources *s, struct text_buffer *b);
void enumerations_page(struct text_buffer *b);
void settings_page(struct text_buffer *b);

#endif
