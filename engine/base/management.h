/* SPDX-License-Identifier: MIT */
/* Windows Management Instrumentation: the rows of a query. Natively there is none (DECISIONS 28). */
#ifndef OPENPLA_MANAGEMENT_H
#define OPENPLA_MANAGEMENT_H

#include "engine/base/text.h"

struct management_value {
    char *name;
    const char *type; /* CIM's: "uint32", "datetime", "object", of an array "string[]" */
    bool key;         /* the class says that it identifies its objects */
    bool array, null;
    /* One, of an array each: numbers in decimal, booleans as "true" and "false", datetimes as WMI has them, an object
       in MOF. The bytes of an array of uint8 are one text of hexadecimal digits. */
    struct texts texts;
};
struct management_row {
    struct management_value *values;
    size_t count, capacity;
};

/* Runs the query in the namespace and hands each row over as it comes, which `take` owns then, from memory_alloc. A
   failure of `take` ends it, and is its result. May take any time, and may hang: for a thread that somebody can do
   without. WMI's results (0x80041017: no WQL; 0x80041010: no such class, on hosts too that answer with no rows then),
   with a text that names the namespace. */
HRESULT management_query(const char *namespace_path, const char *query,
                         HRESULT (*take)(void *user, struct management_row *row), void *user);
void management_row_free(struct management_row *row); /* with the row itself; NULL is allowed */

#endif
