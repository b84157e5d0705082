/* SPDX-License-Identifier: MIT */
/* The vtables of all objects, each in its object's file; and COM_OBJECT_<model class>, the pointer to its interface. */
#ifndef OPENPLA_CLASS_TABLE_H
#define OPENPLA_CLASS_TABLE_H

#include "com/objects/skin.h"

#define CLASS(model, I, base)                                                                                          \
    extern const I##Vtbl I##_vtable;                                                                                   \
    typedef I *COM_OBJECT_##model;
#include "engine/pla/classes.def"
#undef CLASS

#endif
