/* SPDX-License-Identifier: MIT */
/* What is wrong with the files of the store, and mending it. */
#ifndef OPENPLA_STORE_CHECK_H
#define OPENPLA_STORE_CHECK_H

#include "engine/base/text.h"

/* A word for programs and what it means. */
#define STORE_FAULTS(X)                                                                                                \
    X(TORN, "torn", "a program that ended while it wrote left it; nothing in it was committed")                        \
    X(UNUSABLE, "unusable", "no definition that can be used")                                                          \
    X(MISPLACED, "misplaced", "not where a set of this name is looked for")                                            \
    X(TWICE, "twice", "a second file of a set")                                                                        \
    X(ORPHAN, "orphan", "of a set that is not there")                                                                  \
    X(DAMAGED, "damaged", "cannot be read")                                                                            \
    X(LINK, "link", "a link, no file or folder of the store's own")                                                    \
    X(FOREIGN, "foreign", "of another account, which could change it")                                                 \
    X(OPEN, "open", "others than its account, the system and administrators may look into it")                         \
    X(STRANGE, "strange", "nothing that the store makes")
enum store_fault {
#define X(name, word, text) STORE_##name,
    STORE_FAULTS(X)
#undef X
};
const char *store_fault_word(enum store_fault fault);
const char *store_fault_text(enum store_fault fault);

struct store_finding {
    enum store_fault fault;
    const char *path;
    const char *detail; /* more than the fault's text; "" */
    /* S_FALSE: it was not asked for, or it is the user's to mend; a failure: it could not be, and why is the thread's
       error text; S_OK: it is mended, and `to` is where the file is now, "" if it is gone or changed in its place. */
    HRESULT mended;
    const char *to;
};
/* Looks at all namespaces, each under its lock, and calls `each` for what is wrong; its failure ends the check. `mend`:
   what can be mended without losing anything is: what cannot be read, and what belongs to no set, goes to the folder
   `aside` of the data folder, but for a record of runs, which keeps a set's serial numbers from coming again; a
   definition is never deleted. */
HRESULT store_check(bool mend, HRESULT (*each)(void *user, const struct store_finding *finding), void *user);

#endif
