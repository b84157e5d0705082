/* SPDX-License-Identifier: MIT */
/* What an entry of RegistryKeys asks for. MS-PLA 3.2.4.7, DECISIONS 61. */
#ifndef OPENPLA_COLLECT_CONFIGURATION_REGISTRY_PATH_H
#define OPENPLA_COLLECT_CONFIGURATION_REGISTRY_PATH_H

#include "engine/base/registry.h"

/* Forms, a backslash before each allowed: HIVE\Key\Value one value, HIVE\Key\ all of a key, HIVE\Key\\ all of it and of
   those below, HIVE\Key\\Value the values of that name in the key and in those below. \\computer\HIVE... is another
   computer's; " /reg:32" or " /reg:64" behind it says whose view. */
struct registry_path {
    struct registry_place place; /* its computer is owned */
    char *key;                   /* below the hive; of one value, key and value */
    char *value;                 /* recursive: only of that name */
    bool all, recursive;
};
/* E_INVALIDARG, with a text that names the entry. *out needs no free on failure, and takes it. */
HRESULT registry_path_read(const char *text, struct registry_path *out);
/* The same place with another key. */
HRESULT registry_path_copy(const struct registry_path *from, const char *key, struct registry_path *out);
void registry_path_free(struct registry_path *p);

#endif
