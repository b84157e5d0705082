/* SPDX-License-Identifier: MIT */
/* The prototypes of Windows' functions: how each argument and the result read as text. api_signatures.txt, which
   signatures.py generates from MinGW's headers, has a line for each function: its name and a letter for the result
   and for each argument. */
#ifndef OPENPLA_API_SIGNATURES_H
#define OPENPLA_API_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum api_kind {
    API_VOID = 'v',
    API_SIGNED = 'i',   /* int, LONG */
    API_UNSIGNED = 'u', /* DWORD, enumerations */
    API_FLAGS = 'x',    /* DWORD named as flags, access, attributes ...: hexadecimal */
    API_BYTE = 'y',     /* BYTE, BOOLEAN, char */
    API_WORD = 'k',     /* WORD, WCHAR */
    API_SHORT = 't',
    API_SIGNED_64 = 'q',
    API_UNSIGNED_64 = 'z',
    API_SIGNED_PTR = 'j',   /* INT_PTR, LRESULT: as wide as a pointer */
    API_UNSIGNED_PTR = 'm', /* SIZE_T, WPARAM */
    API_POINTER = 'p',
    API_HANDLE = 'h',
    API_CODE = 'c', /* address of a function */
    API_ANSI = 'a', /* const char * */
    API_WIDE = 'w', /* const WCHAR * */
    API_BOOL = 'b',
    API_HRESULT = 'e',
    API_NTSTATUS = 'n',
    API_STATUS = 'l', /* an error code of Windows */
    API_FLOAT = 'f',
    API_DOUBLE = 'd',
    API_STRUCTURE = 's', /* by value, or by the address of a copy: its register as a number, in 64-bit programs */
};

enum { API_ARGUMENTS_MAX = 32 };
struct api_signature {
    char result;           /* enum api_kind */
    uint8_t count;         /* of arguments */
    const char *arguments; /* enum api_kind, borrowed from the table */
};

/* 4-byte words on the stack of an argument in 32-bit programs, unless it is a structure. */
static inline unsigned api_words_32(char kind)
{
    return kind == API_SIGNED_64 || kind == API_UNSIGNED_64 || kind == API_DOUBLE ? 2 : 1;
}

/* False: the table lacks the function, or no frame may come between it and its caller (variadic functions, and those
   that return a structure). */
bool api_signature_find(const char *name, struct api_signature *out);

#endif
