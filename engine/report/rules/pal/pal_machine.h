/* SPDX-License-Identifier: MIT */
/* The state of the interpreter of PowerShell (pal_code.c), and the reader of PowerShell's expressions. */
#ifndef OPENPLA_PAL_MACHINE_H
#define OPENPLA_PAL_MACHINE_H

#include "engine/report/rules/pal/pal_value.h"

#include <string.h>

enum { PAL_LOCALS_MAX = 120, PAL_DEEPEST = 40, PAL_STEPS_MAX = 50000, PAL_CANDIDATES_MAX = 40 };

struct pal_locals {
    size_t count;
    struct {
        const char *name;
        struct pal_value value;
    } items[PAL_LOCALS_MAX];
};
struct pal_machine {
    struct pal_set *set;
    struct pal_pool *pool;
    const struct pal_analysis *analysis;
    const struct pal_token *at;
    bool means, computes; /* computes: the code belongs to a computed counter */
    unsigned deep, steps;
    struct pal_locals *locals;
    struct pal_value path; /* conditions under which the current statement runs */
    struct pal_outcome *out;
    struct pal_value *candidates; /* computed values of several sources */
    size_t candidate_count;
    HRESULT hr;
};

static inline bool is_sign(const struct pal_token *t, const char *sign)
{
    return t->kind == PAL_SIGN && !strcmp(t->text, sign);
}
static inline bool is_word(const struct pal_token *t, const char *word)
{
    return t->kind == PAL_WORD && !strcmp(t->text, word);
}
/* If the current token is `sign`, moves to the next token and returns true. */
bool pal_take(struct pal_machine *m, const char *sign);
void pal_skip_lines(struct pal_machine *m);
/* Moves from an opening bracket to the position after its closing bracket. */
void pal_skip_brackets(struct pal_machine *m);

/* Records why the code is not understood; only the first reason is kept. */
void pal_fails(struct pal_machine *m, const char *why);
struct pal_value *pal_local(struct pal_machine *m, const char *name); /* returns NULL if the variable has no value */
void pal_set_local(struct pal_machine *m, const char *name, struct pal_value value);
uint64_t pal_bit(const struct pal_machine *m, const struct pal_source *s);
/* Reads an expression, starting at the current token. */
struct pal_value pal_read(struct pal_machine *m);
/* Keeps the value if it may belong to a computed counter: an arithmetic expression of several counters. */
void pal_consider(struct pal_machine *m, const struct pal_value *v);
/* Interprets the code. *empty becomes true if there is no code, and *old if the code is VBScript. The caller frees the
   candidates. */
HRESULT pal_machine_run(struct pal_machine *m, const char *code, bool *empty, bool *old);

#endif
