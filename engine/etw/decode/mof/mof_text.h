/* SPDX-License-Identifier: MIT */
/* A MOF file as a list of its classes: what it says, in its order, before anything is made of it. Instances, methods
   and declarations of qualifiers are read over: event classes have none. */
#ifndef OPENPLA_MOF_TEXT_H
#define OPENPLA_MOF_TEXT_H

#include "engine/etw/decode/mof/mof_lexer.h"

/* What a file may have; more is MOF_E_OUT_OF_RANGE with the line. */
#define MOF_TEXT_MOST       (8u << 20) /* bytes of a file, as UTF-8 */
#define MOF_CLASSES_MOST    16384u
#define MOF_PROPERTIES_MOST 2048u  /* of a class */
#define MOF_QUALIFIERS_MOST 64u    /* of a class or property */
#define MOF_VALUES_MOST     65536u /* of a qualifier */

enum mof_kind { MOF_NULL, MOF_BOOLEAN, MOF_INTEGER, MOF_REAL, MOF_STRING };

struct mof_value {
    enum mof_kind kind;
    bool negative;
    uint64_t number; /* of an integer, a character, a boolean: without the sign */
    char *text;      /* as written; of a string its contents */
};

struct mof_qualifier {
    char *name;
    struct mof_value *values; /* one, true, where none is said */
    size_t count;
    bool amended; /* a text of one language */
    uint32_t line;
};

struct mof_qualifiers {
    struct mof_qualifier *items;
    size_t count;
};

enum mof_type {
    MOF_TYPE_SINT8,
    MOF_TYPE_UINT8,
    MOF_TYPE_SINT16,
    MOF_TYPE_UINT16,
    MOF_TYPE_SINT32,
    MOF_TYPE_UINT32,
    MOF_TYPE_SINT64,
    MOF_TYPE_UINT64,
    MOF_TYPE_REAL32,
    MOF_TYPE_REAL64,
    MOF_TYPE_BOOLEAN,
    MOF_TYPE_CHAR16,
    MOF_TYPE_STRING,
    MOF_TYPE_OBJECT,
    MOF_TYPE_DATETIME,
    MOF_TYPE_CLASS, /* another class, or a reference to one: no data of events */
};

struct mof_property {
    char *name;
    enum mof_type type;
    char *type_name; /* of MOF_TYPE_CLASS: as written; else NULL */
    bool array;
    uint32_t size; /* of an array: what stands in its brackets; 0: nothing */
    struct mof_qualifiers qualifiers;
    uint32_t line;
};

struct mof_class {
    char *name, *superclass; /* superclass NULL: none */
    const char *source;      /* the file's name; borrowed of the document */
    uint32_t line;
    uint16_t language; /* of a class in a namespace ms_XXXX, which has texts alone; else 0 */
    struct mof_qualifiers qualifiers;
    struct mof_property *properties;
    size_t property_count;
};

struct mof_document {
    char *source;
    struct mof_class *classes;
    size_t count;
};

/* Reads `size` bytes in any encoding of source_text.h. `source` names them in errors: "source(line): ...", with
   MOF_E_ codes of mofcomp. */
HRESULT mof_text_read(const char *source, const void *bytes, size_t size, struct mof_document **out);
void mof_document_free(struct mof_document *d); /* NULL is allowed */

/* NULL: it has none of that name (in any case). */
const struct mof_qualifier *mof_qualifier_find(const struct mof_qualifiers *q, const char *name);
/* Its first value as a text; NULL when there is none of that name or it is none. */
const char *mof_qualifier_text(const struct mof_qualifiers *q, const char *name);
/* It is there and not false. */
bool mof_qualifier_is_set(const struct mof_qualifiers *q, const char *name);
const char *mof_type_name(enum mof_type type);

#endif
