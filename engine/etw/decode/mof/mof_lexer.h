/* SPDX-License-Identifier: MIT */
/* The words of the Managed Object Format (DMTF DSP0004, as mofcomp takes it): one token at a time, with its line. */
#ifndef OPENPLA_MOF_LEXER_H
#define OPENPLA_MOF_LEXER_H

#include "engine/base/text.h"

/* What mofcomp answers (wbemcli.h). */
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
    MOF_TOKEN_NAME,    /* of letters, digits and _, not beginning with a digit; also $alias */
    MOF_TOKEN_STRING,  /* its pieces joined and its escapes resolved */
    MOF_TOKEN_CHAR,    /* 'x' */
    MOF_TOKEN_INTEGER, /* decimal, 0x, octal, 1010b */
    MOF_TOKEN_REAL,
    MOF_TOKEN_SIGN /* one of []{}(),;:=# */
};

struct mof_lexer {
    const char *source;      /* the file's name in errors; borrowed */
    const char *at, *end;    /* what is left */
    uint32_t line;           /* of `at`, from 1 on */
    enum mof_token token;    /* the present one, with: */
    uint32_t token_line;     /* where it begins */
    struct text_buffer text; /* as written; of a string its contents */
    uint64_t number;         /* of an integer, a character: its value without the sign */
    bool negative;
};

/* Reads `text` (UTF-8, `size` bytes), and the first token. */
HRESULT mof_lexer_begin(struct mof_lexer *l, const char *source, const char *text, size_t size);
void mof_lexer_end(struct mof_lexer *l);
/* The next token. MOF_E_ codes with "source(line): ..." for a string or comment without end, a number that is none or
   too large, a character that MOF does not have; E_OUTOFMEMORY. */
HRESULT mof_lexer_next(struct mof_lexer *l);
bool mof_lexer_sign(const struct mof_lexer *l, char sign);        /* the present token is it */
bool mof_lexer_word(const struct mof_lexer *l, const char *word); /* the same of a name, in any case */
/* Sets "source(line): WHAT expected, not TOKEN" with the present token; returns hr. */
HRESULT mof_lexer_expected(const struct mof_lexer *l, HRESULT hr, const char *what);
HRESULT mof_lexer_error(const struct mof_lexer *l, HRESULT hr, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
