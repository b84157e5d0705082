/* SPDX-License-Identifier: MIT */
/* The secret of a set: the passwords of its account and of its databases. Its text form has lines of a word and a
   value. The first line names the set, so that copying a key into another definition gives no access to the
   passwords. */
#ifndef OPENPLA_SET_SECRET_H
#define OPENPLA_SET_SECRET_H

#include "engine/base/text.h"

struct set_secret {
    char *set;            /* namespace and folded name */
    char *by;             /* the account that gave the password */
    char *sid;            /* of that account, if the host OS provides it; NULL: unknown */
    char *password;       /* NULL: the set runs under the service's account */
    struct texts sources; /* three strings each: collector, data source without its secrets, secrets */
};
/* Call on a zero-initialised secret. */
HRESULT set_secret_begin(struct set_secret *out, const char *space, const char *name);
/* S_FALSE, with *out zero: none, or another set's. In a host process, returns the secret it was started with. */
HRESULT set_secret_load(const char *key, const char *space, const char *name, struct set_secret *out);
/* S_FALSE: none, or another set's, as after its definition was copied. */
HRESULT set_secret_delete(const char *key, const char *space, const char *name);
HRESULT set_secret_add_source(struct set_secret *s, const char *collector, const char *open, const char *secret);
/* The secrets of that collector's data source; borrowed; NULL: none known. */
const char *set_secret_source(const struct set_secret *s, const char *collector, const char *open);
/* *text for memory_free_secret. */
HRESULT set_secret_text(const struct set_secret *s, char **text);
/* Parses the text in place. HRESULT of ERROR_INVALID_DATA: not such a text. */
HRESULT set_secret_parse(char *text, struct set_secret *out);
void set_secret_free(struct set_secret *s);

#endif
