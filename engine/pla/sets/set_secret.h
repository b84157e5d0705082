/* SPDX-License-Identifier: MIT */
/* The one secret of a set: the password of its account, and those of its databases. As a text it is lines of a word and
   a value; the first says which set it is of, since who copies one definition's key into another has not the right to
   its passwords by that. */
#ifndef OPENPLA_SET_SECRET_H
#define OPENPLA_SET_SECRET_H

#include "engine/base/text.h"

struct set_secret {
    char *set;            /* namespace and folded name */
    char *by;             /* the account that gave the password */
    char *sid;            /* of the account that it is of, where the host tells it; NULL: it does not */
    char *password;       /* NULL: the set runs under the service's account */
    struct texts sources; /* three for each: the collector, the data source without its secrets, the secrets */
};
/* Zero-initialise before either. */
HRESULT set_secret_begin(struct set_secret *out, const char *space, const char *name);
/* S_FALSE, and *out zero: there is none, or it is another set's. In a host, what it was given at its start. */
HRESULT set_secret_load(const char *key, const char *space, const char *name, struct set_secret *out);
/* S_FALSE: there is none, or it is another set's, as the key of a definition that was copied is. */
HRESULT set_secret_delete(const char *key, const char *space, const char *name);
HRESULT set_secret_add_source(struct set_secret *s, const char *collector, const char *open, const char *secret);
/* What is secret in the data source of that collector; borrowed; NULL: nothing is known. */
const char *set_secret_source(const struct set_secret *s, const char *collector, const char *open);
/* *text for memory_free_secret. */
HRESULT set_secret_text(const struct set_secret *s, char **text);
/* Cuts the text up. ERROR_INVALID_DATA's HRESULT: it is no such text. */
HRESULT set_secret_parse(char *text, struct set_secret *out);
void set_secret_free(struct set_secret *s);

#endif
