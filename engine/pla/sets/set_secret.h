/* SPDX-License-Identifier: MIT */
/* The secret of a set: the passwords of its account and of its databases. In its text form, each line has a word and a
   value. The first line contains the set's name, so that a copy of the key in another definition does not give access
   to the passwords. */
#ifndef OPENPLA_SET_SECRET_H
#define OPENPLA_SET_SECRET_H

#include "engine/base/text.h"

struct set_secret {
    char *set;            /* namespace and folded name */
    char *by;             /* the account that committed the password */
    char *sid;            /* SID of the set's account, if the host OS provides it; NULL: unknown */
    char *password;       /* NULL: the set runs under the service's account */
    struct texts sources; /* three strings for each data source: collector, data source without secrets, secrets */
};
/* Initialises the secret of a set. Call it on a zero-initialised struct. */
HRESULT set_secret_begin(struct set_secret *out, const char *space, const char *name);
/* Loads the secret with that key. S_FALSE, with *out zero: no secret exists, or it belongs to another set. A host
   process gets the secret with which it was started. */
HRESULT set_secret_load(const char *key, const char *space, const char *name, struct set_secret *out);
/* Deletes the secret with that key. S_FALSE: no secret exists, or it belongs to another set, for example because the
   definition was copied. */
HRESULT set_secret_delete(const char *key, const char *space, const char *name);
HRESULT set_secret_add_source(struct set_secret *s, const char *collector, const char *open, const char *secret);
/* Returns the secrets of that collector's data source, borrowed; NULL: not in the secret. */
const char *set_secret_source(const struct set_secret *s, const char *collector, const char *open);
/* Formats the text form; free *text with memory_free_secret. */
HRESULT set_secret_text(const struct set_secret *s, char **text);
/* Parses the text in place. HRESULT_FROM_WIN32(ERROR_INVALID_DATA): not the text form of a secret. */
HRESULT set_secret_parse(char *text, struct set_secret *out);
void set_secret_free(struct set_secret *s);

#endif
