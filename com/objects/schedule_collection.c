/* SPDX-License-Identifier: MIT */
/* IScheduleCollection. MS-PLA 3.2.4.14. */
#include "com/objects/collection.h"

COLLECTION_READ_THUNKS(IScheduleCollection, ISchedule, LONG)
COLLECTION_ADD_THUNK(IScheduleCollection, ISchedule)
COLLECTION_REMOVE_THUNK(IScheduleCollection)
COLLECTION_CREATE_THUNK(IScheduleCollection, ISchedule, CreateSchedule, set_schedule_class)

#define INTERFACE IScheduleCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateSchedule = THUNK(CreateSchedule), COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 1)
#include "com/objects/object_vtable.inc"
