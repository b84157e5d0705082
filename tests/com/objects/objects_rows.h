/* SPDX-License-Identifier: MIT */
/* The rows of every object's properties, made of the engine's .def files, and a way to make each object. */
#ifndef OPENPLA_TEST_ROWS_H
#define OPENPLA_TEST_ROWS_H

#include "tests/com/client.h"

enum kind { BOOL_, I32_, U32_, U64_, ENUM_, FLAGS_, TEXT_, TEXTS_, BYTES_, GUID_, DATE_, TIME_, VARIANT_, OBJECT_ };

struct row {
    const char *name;
    enum kind kind;
    const char *enumeration;
    HRESULT (*get)(void *object, void *out); /* the vtable's members */
    HRESULT (*put)(void *object, const void *in);
    int64_t number, min, max;
    const char *text;
};

struct kind_of_object {
    void *(*make)(void); /* through the interface that the rows are of */
    const struct row *rows;
    size_t count;
};
extern const struct kind_of_object kinds_of_object[];
extern const size_t kinds_of_object_count;

/* Whether it is the type of a map: that of a fresh one is plaValidation. */
bool is_map_type(const struct row *row);

#endif
