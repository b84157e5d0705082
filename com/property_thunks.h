/* SPDX-License-Identifier: MIT */
/* The vtable members that property rows make. Include with INTERFACE and PROPERTIES defined; it defines the thunks
   INTERFACE_get_X_thunk and INTERFACE_put_X_thunk. PROPERTY_SLOTS then names them in the vtable, PROPERTY_SLOT_COUNT
   counts them.

   #define INTERFACE IValueMapItem
   #define PROPERTY PROPERTY_THUNKS
   #include "engine/model/value_map_item.def"
   #undef PROPERTY */
#ifndef OPENPLA_PROPERTY_THUNKS_H
#define OPENPLA_PROPERTY_THUNKS_H

#include "com/convert.h"
#include "com/skin.h"

/* The COM type of a kind. */
#define COM_BOOL                                  VARIANT_BOOL
#define COM_I32                                   LONG
#define COM_U32                                   ULONG
#define COM_ENUM(E)                               E
#define COM_FLAGS(E)                              E
#define COM_U64                                   ULONG64
#define COM_BYTES                                 LPSAFEARRAY
#define COM_GUID                                  GUID
#define COM_DATE                                  VARIANT
#define COM_TIME                                  VARIANT
#define COM_TEXT                                  BSTR
#define COM_TEXTS                                 LPSAFEARRAY
#define COM_VARIANT                               VARIANT
#define COM_OBJECT(C)                             COM_OBJECT_##C
/* The interface of a child object's class. */
#define COM_OBJECT_data_collector_collection      IDataCollectorCollection *
#define COM_OBJECT_data_manager                   IDataManager *
#define COM_OBJECT_folder_action_collection       IFolderActionCollection *
#define COM_OBJECT_set_schedule_collection        IScheduleCollection *
#define COM_OBJECT_trace_data_provider_collection ITraceDataProviderCollection *
#define COM_OBJECT_value_map                      IValueMap *

#define THUNK_JOIN_(I, verb, Name)                I##_##verb##_##Name##_thunk
#define THUNK_JOIN(I, verb, Name)                 THUNK_JOIN_(I, verb, Name)
#define THUNK_ROW_(I, Name)                       I##_##Name
#define THUNK_ROW(I, Name)                        THUNK_ROW_(I, Name)
#define GET_THUNK(kind, Name)                                                                                          \
    static HRESULT STDMETHODCALLTYPE THUNK_JOIN(INTERFACE, get, Name)(INTERFACE * This, COM_##kind * out)              \
    {                                                                                                                  \
        return property_get(This, THUNK_ROW(INTERFACE, Name), out);                                                    \
    }
#define PUT_THUNK(kind, Name)                                                                                          \
    static HRESULT STDMETHODCALLTYPE THUNK_JOIN(INTERFACE, put, Name)(INTERFACE * This, COM_##kind in)                 \
    {                                                                                                                  \
        return property_put(This, THUNK_ROW(INTERFACE, Name), &in);                                                    \
    }
#define THUNKS_NONE(kind, Name)
#define THUNKS_RO(kind, Name)                    GET_THUNK(kind, Name)
#define THUNKS_RW(kind, Name)                    GET_THUNK(kind, Name) PUT_THUNK(kind, Name)
#define PROPERTY_THUNKS(access, kind, Name, ...) THUNKS_##access(kind, Name)

#define SLOTS_NONE(Name)
#define SLOTS_RO(Name)                               .get_##Name = THUNK_JOIN(INTERFACE, get, Name),
#define SLOTS_RW(Name)                               SLOTS_RO(Name).put_##Name = THUNK_JOIN(INTERFACE, put, Name),
#define PROPERTY_SLOTS(access, kind, Name, ...)      SLOTS_##access(Name)

#define COUNT_NONE                                   0
#define COUNT_RO                                     1
#define COUNT_RW                                     2
#define PROPERTY_SLOT_COUNT(access, kind, Name, ...) +COUNT_##access

#endif
