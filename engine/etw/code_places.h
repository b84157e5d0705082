/* SPDX-License-Identifier: MIT */
/* Finds the code at an address in a process. The result is either a method that was compiled at run time, or an image
   that was loaded at this address according to the trace. For an image, the result includes the identity of its
   symbols. */
#ifndef OPENPLA_CODE_PLACES_H
#define OPENPLA_CODE_PLACES_H

#include "engine/etw/trace_input.h"

struct code_module {
    char *path;          /* path as the trace contains it, often in the kernel's form (\Device\HarddiskVolume1\...) */
    const char *name;    /* the file name at the end of `path` */
    uint32_t size, time; /* SizeOfImage and TimeDateStamp of its header; 0: unknown */
    bool has_symbols;    /* the next three members are known (RSDS) */
    GUID signature;
    uint32_t age;
    char *symbols; /* name of the PDB file; NULL: unknown */
    uint32_t index;
};
struct code_place {
    const struct code_module *module; /* NULL: the address is in no image */
    uint64_t offset;                  /* offset from the beginning of the module or of the method */
    const char *method;               /* name of the method, if it is known from the trace; otherwise NULL */
    const char *method_module;        /* the program file of the method; NULL: unknown */
};

struct code_places;
HRESULT code_places_create(struct code_places **out); /* E_OUTOFMEMORY */
/* Processes the next event; call it for every event of the trace. Errors: E_OUTOFMEMORY. */
HRESULT code_places_take(struct code_places *p, const struct trace_event *e);
/* Call it after the last event and before code_places_find. Errors: E_OUTOFMEMORY. */
HRESULT code_places_finish(struct code_places *p);
/* Finds the code that was at an address at the time of event `number`. Returns false if the code is unknown. */
bool code_places_find(const struct code_places *p, uint32_t process, uint64_t address, uint64_t number,
                      struct code_place *out);
size_t code_places_modules(const struct code_places *p);
const struct code_module *code_places_module(const struct code_places *p, size_t index);
/* Returns the number of images and methods that were ignored because of the memory limits. */
uint64_t code_places_refused(const struct code_places *p);
void code_places_free(struct code_places *p); /* NULL is allowed */

/* "0123ABCD...1": GUID as 32 digits and the age, in the form that symbol stores use for a folder name. */
enum { CODE_IDENTITY = 32 + 8 + 1 };
void code_module_identity(const struct code_module *m, char out[CODE_IDENTITY]);

#endif
