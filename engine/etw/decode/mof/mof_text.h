/* SPDX-License-Identifier: MIT */
/* Reads a MOF file (Managed Object Format, DMTF DSP0004, in mofcomp's dialect): splits it into tokens, and parses these
   into a list of classes. Instances, methods and qualifier declarations are skipped, because event classes do not need
   them. */
#ifndef OPENPLA_MOF_TEXT_H
#define OPENPLA_MOF_TEXT_H

#include "engine/base/text.h"

#include <stddef.h>

/* Errors of mofcomp (wbemcli.h). */
#define MOF_E_EXPECTED_QUALIFIER_NAME ((HRESULT)0x80044001)
#define MOF_E_EXPECTED_SEMI           ((HRESULT)0x80044002)
#define MOF_E_EXPECTED_OPEN_BRACE     ((HRESULT)0x80044003)
#define MOF_E_EXPECTED_CLOSE_BRACE    ((HRESULT)0x80044004)
#define MOF_E_EXPECTED_CLOSE_BRACKET  ((HRESULT)0x80044005)
#define MOF_E_EXPECTED_CLOSE_PAREN    ((HRESULT)0x80044006)
#define MOF_E_ILLEGAL_CONSTANT_VALUE  ((HRESULT)0x80044007)
#define MOF_E_UNRECOGNIZED_TOKEN      ((HRESULT)0x8004400A)
#define MOF_E_UNRECOGNIZED_TYPE       ((HRESULT)0x8004400B)
#define MOF_E_EXPECTED_PROPERTY_NAME  ((HRESULT)0x8004400C)
#define MOF_E_TYPEDEF_NOT_SUPPORTED   ((HRESULT)0x8004400D)
#define MOF_E_INVALID_PRAGMA          ((HRESULT)0x80044012)
#define MOF_E_INVALID_NAMESPACE       ((HRESULT)0x80044013)
#define MOF_E_EXPECTED_CLASS_NAME     ((HRESULT)0x80044014)
#define MOF_E_TYPE_MISMATCH           ((HRESULT)0x80044015)
#define MOF_E_INVALID_CLASS           ((HRESULT)0x80044017)
#define MOF_E_DUPLICATE_PROPERTY      ((HRESULT)0x8004401B)
#define MOF_E_OUT_OF_RANGE            ((HRESULT)0x8004401D)
#define MOF_E_INVALID_FILE            ((HRESULT)0x8004401E)
#define MOF_E_DUPLICATE_QUALIFIER     ((HRESULT)0x80044021)
#define MOF_E_EXPECTED_FLAVOR_TYPE    ((HRESULT)0x80044022)
#define MOF_E_INVALID_INCLUDE_FILE    ((HRESULT)0x80044030)
#define MOF_E_INVALID_SUPERCLASS      ((HRESULT)0x8004100D) /* WBEM_E_INVALID_SUPERCLASS */
#define MOF_E_ALREADY_EXISTS          ((HRESULT)0x80041019) /* WBEM_E_ALREADY_EXISTS */

enum mof_token {
    MOF_TOKEN_END,
    MOF_TOKEN_NAME,    /* letters, digits and _, not beginning with a digit; also $alias */
    MOF_TOKEN_STRING,  /* adjacent strings are joined, and escapes are resolved */
    MOF_TOKEN_CHAR,    /* 'x' */
    MOF_TOKEN_INTEGER, /* decimal, 0x, octal, 1010b */
    MOF_TOKEN_REAL,
    MOF_TOKEN_SIGN /* one of []{}(),;:=# */
};

struct mof_lexer {
    const char *source;      /* name of the file, for errors; borrowed */
    const char *at, *end;    /* the remaining text */
    uint32_t line;           /* number of the line that contains `at`, from 1 */
    enum mof_token token;    /* the current token; the following members describe it */
    uint32_t token_line;     /* line on which the token begins */
    struct text_buffer text; /* the token as it is in the file; for a string, the text that it represents */
    uint64_t number;         /* value of an integer or character, without the sign */
    bool negative;
};

/* Begins to read `size` bytes of UTF-8, and reads the first token. */
HRESULT mof_lexer_begin(struct mof_lexer *l, const char *source, const char *text, size_t size);
void mof_lexer_end(struct mof_lexer *l);
/* Reads the next token. Fails with a MOF_E_ code and the error text "source(line): ..." for an unterminated string or
   comment, a malformed or too large number, or an unexpected character. Other errors: E_OUTOFMEMORY. */
HRESULT mof_lexer_next(struct mof_lexer *l);
bool mof_lexer_sign(const struct mof_lexer *l, char sign); /* returns whether the current token is this sign */
/* Returns whether the current token is this name, ignoring case. */
bool mof_lexer_word(const struct mof_lexer *l, const char *word);
/* Sets the error "source(line): expected WHAT, not TOKEN" for the current token and returns hr. */
HRESULT mof_lexer_expected(const struct mof_lexer *l, HRESULT hr, const char *what);
HRESULT mof_lexer_error(const struct mof_lexer *l, HRESULT hr, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- a file as a list of its classes ---- */

/* Limits of a file; beyond them, the error is MOF_E_OUT_OF_RANGE with the line. */
#define MOF_TEXT_MOST       (8u << 20) /* maximum bytes of a file, as UTF-8 */
#define MOF_CLASSES_MOST    16384u
#define MOF_PROPERTIES_MOST 2048u  /* maximum number per class */
#define MOF_QUALIFIERS_MOST 64u    /* maximum number per class or property */
#define MOF_VALUES_MOST     65536u /* maximum number per qualifier */

enum mof_kind { MOF_NULL, MOF_BOOLEAN, MOF_INTEGER, MOF_REAL, MOF_STRING };

struct mof_value {
    enum mof_kind kind;
    bool negative;
    uint64_t number; /* value of an integer, character or Boolean, without the sign */
    char *text;      /* the value as it is in the file; for a string, the text that it represents */
};

struct mof_qualifier {
    char *name;
    struct mof_value *values; /* the single value `true` if the file has no value */
    size_t count;
    bool amended; /* the qualifier contains text in one language */
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
    MOF_TYPE_CLASS, /* an object of another class or a reference to it; neither is event data */
};

struct mof_property {
    char *name;
    enum mof_type type;
    char *type_name; /* for MOF_TYPE_CLASS, as in the file; otherwise NULL */
    bool array;
    uint32_t size; /* for an array: the number in its brackets, or 0 for empty brackets */
    struct mof_qualifiers qualifiers;
    uint32_t line;
};

struct mof_class {
    char *name, *superclass; /* superclass NULL: the class has no base class */
    const char *source;      /* name of the file; borrowed from the document */
    uint32_t line;
    uint16_t language; /* language of a class in a namespace ms_XXXX, whose classes contain only texts; otherwise 0 */
    struct mof_qualifiers qualifiers;
    struct mof_property *properties;
    size_t property_count;
};

struct mof_document {
    char *source;
    struct mof_class *classes;
    size_t count;
};

/* Parses `size` bytes in any encoding that source_text.h knows. `source` is the name of the source in the error texts,
   which begin with "source(line): ". The error codes are the MOF_E_ codes of mofcomp. */
HRESULT mof_text_read(const char *source, const void *bytes, size_t size, struct mof_document **out);
void mof_document_free(struct mof_document *d); /* NULL is allowed */

/* Returns the qualifier with this name (case is ignored); NULL: it does not exist. */
const struct mof_qualifier *mof_qualifier_find(const struct mof_qualifiers *q, const char *name);
/* Returns the qualifier's first value if it is a string; NULL: the qualifier is missing, or the value is not a
   string. */
const char *mof_qualifier_text(const struct mof_qualifiers *q, const char *name);
/* Returns whether the qualifier is present and not false. */
bool mof_qualifier_is_set(const struct mof_qualifiers *q, const char *name);
const char *mof_type_name(enum mof_type type);

/* The MOF source of the classic classes of Windows' kernel and of the trace itself (engine/etw/decode/mof/classic) as
   one string. Generated by cmake/ClassicClasses.cmake. */
extern const char classic_classes[];
extern const size_t classic_classes_size; /* bytes of classic_classes without the NUL */

#endif
