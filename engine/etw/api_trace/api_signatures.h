/* SPDX-License-Identifier: MIT */
/* The signatures of Windows functions, which determine how arguments and results are written as text. signatures.py
   generates api_signatures.txt from MinGW's headers. This table has one line per function: the name, a letter for the
   result, and a letter for each argument. */
#ifndef OPENPLA_API_SIGNATURES_H
#define OPENPLA_API_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum api_kind {
    API_VOID = 'v',
    API_SIGNED = 'i',   /* int, LONG */
    API_UNSIGNED = 'u', /* DWORD, enumerations */
    API_FLAGS = 'x',    /* DWORD whose name suggests flags, access, attributes ...; written in hexadecimal */
    API_BYTE = 'y',     /* BYTE, BOOLEAN, char */
    API_WORD = 'k',     /* WORD, WCHAR */
    API_SHORT = 't',
    API_SIGNED_64 = 'q',
    API_UNSIGNED_64 = 'z',
    API_SIGNED_PTR = 'j',   /* INT_PTR, LRESULT: as wide as a pointer */
    API_UNSIGNED_PTR = 'm', /* SIZE_T, WPARAM */
    API_POINTER = 'p',
    API_HANDLE = 'h',
    API_CODE = 'c', /* function pointer */
    API_ANSI = 'a', /* const char * */
    API_WIDE = 'w', /* const WCHAR * */
    API_BOOL = 'b',
    API_HRESULT = 'e',
    API_NTSTATUS = 'n',
    API_STATUS = 'l', /* a Windows error code */
    API_FLOAT = 'f',
    API_DOUBLE = 'd',
    API_STRUCTURE = 's', /* passed by value or as the address of a copy; in 64-bit programs, the 8 bytes of this
                            argument are logged as a number */
};

enum { API_ARGUMENTS_MAX = 32 };
struct api_signature {
    char result;           /* enum api_kind */
    uint8_t count;         /* number of arguments */
    const char *arguments; /* an enum api_kind for each argument; points into the table */
};

/* Returns how many 4-byte stack words an argument takes in 32-bit programs. `kind` must not be API_STRUCTURE. */
static inline unsigned api_words_32(char kind)
{
    return kind == API_SIGNED_64 || kind == API_UNSIGNED_64 || kind == API_DOUBLE ? 2 : 1;
}

/* Finds the signature of a function. Returns false if the function is not in the table or has more than
   API_ARGUMENTS_MAX arguments. The table omits variadic functions and functions that return a structure, because a
   thunk cannot insert a frame between them and their caller. */
bool api_signature_find(const char *name, struct api_signature *out);

#endif
