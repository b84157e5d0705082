/* SPDX-License-Identifier: MIT */
/* The code that object_vtable.inc generates from a property row: the members get_X and put_X of INTERFACE, their slots
   in the vtable, and their number. */
#ifndef OPENPLA_PROPERTY_THUNKS_H
#define OPENPLA_PROPERTY_THUNKS_H

#include "com/objects/convert.h"

/* The COM type of each kind of property. */
#define COM_BOOL         VARIANT_BOOL
#define COM_I32          LONG
#define COM_U32          ULONG
#define COM_ENUM(E)      E
#define COM_FLAGS(E)     E
#define COM_U64          ULONG64
#define COM_BYTES        LPSAFEARRAY
#define COM_GUID         GUID
#define COM_DATE         VARIANT
#define COM_TIME         VARIANT
#define COM_TEXT         BSTR
#define COM_TEXTS        LPSAFEARRAY
#define COM_VARIANT      VARIANT
#define COM_OBJECT(C)    COM_OBJECT_##C

/* The getter of each kind of property. */
#define GET_BOOL         property_get_bool
#define GET_I32          property_get_number
#define GET_U32          property_get_number
#define GET_ENUM(E)      property_get_number
#define GET_FLAGS(E)     property_get_number
#define GET_U64          property_get
#define GET_BYTES        property_get
#define GET_GUID         property_get
#define GET_DATE         property_get
#define GET_TIME         property_get
#define GET_TEXT         property_get
#define GET_TEXTS        property_get
#define GET_VARIANT      property_get
#define GET_OBJECT(C)    property_get

#define JOIN_(a, b, c)   a##b##c
#define JOIN(a, b, c)    JOIN_(a, b, c)
#define VTABLE(I)        JOIN(I, _vtable, )
#define VTABLE_TYPE(I)   JOIN(I, Vtbl, )
#define THUNK(member)    JOIN(INTERFACE, _##member, _thunk)
#define ROW_NUMBER(Name) JOIN(INTERFACE, _##Name, )

#define GET_THUNK(kind, Name)                                                                                          \
    static HRESULT STDMETHODCALLTYPE THUNK(get_##Name)(INTERFACE * This, COM_##kind * out)                             \
    {                                                                                                                  \
        return GET_##kind(This, ROW_NUMBER(Name), out);                                                                \
    }
#define PUT_THUNK(kind, Name)                                                                                          \
    static HRESULT STDMETHODCALLTYPE THUNK(put_##Name)(INTERFACE * This, COM_##kind in)                                \
    {                                                                                                                  \
        return property_put(This, ROW_NUMBER(Name), &in);                                                              \
    }
#define THUNKS_NONE(kind, Name)
#define THUNKS_RO(kind, Name)                    GET_THUNK(kind, Name)
#define THUNKS_RW(kind, Name)                    GET_THUNK(kind, Name) PUT_THUNK(kind, Name)
#define PROPERTY_THUNKS(access, kind, Name, ...) THUNKS_##access(kind, Name)

#define SLOTS_NONE(Name)
#define SLOTS_RO(Name)                               .get_##Name = THUNK(get_##Name),
#define SLOTS_RW(Name)                               SLOTS_RO(Name).put_##Name = THUNK(put_##Name),
#define PROPERTY_SLOTS(access, kind, Name, ...)      SLOTS_##access(Name)

#define COUNT_NONE                                   0
#define COUNT_RO                                     1
#define COUNT_RW                                     2
#define PROPERTY_SLOT_COUNT(access, kind, Name, ...) +COUNT_##access

#endif
