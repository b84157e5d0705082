/* SPDX-License-Identifier: MIT */
/* The rows of every object's properties, generated from the engine's .def files, and a way to create each object. */
#ifndef OPENPLA_TEST_ROWS_H
#define OPENPLA_TEST_ROWS_H

#include "tests/com/client.h"

enum kind { BOOL_, I32_, U32_, U64_, ENUM_, FLAGS_, TEXT_, TEXTS_, BYTES_, GUID_, DATE_, TIME_, VARIANT_, OBJECT_ };

struct row {
    const char *name;
    enum kind kind;
    const char *enumeration;
    HRESULT (*get)(void *object, void *out); /* the accessors in the vtable */
    HRESULT (*put)(void *object, const void *in);
    int64_t number, min, max;
    const char *text;
};

struct kind_of_object {
    void *(*make)(void); /* returns the object through the interface that the rows describe */
    const struct row *rows;
    size_t count;
};
extern const struct kind_of_object kinds_of_object[];
extern const size_t kinds_of_object_count;

/* Returns whether the row is a map's Type; in a fresh map it is plaValidation. */
bool is_map_type(const struct row *row);

#endif
