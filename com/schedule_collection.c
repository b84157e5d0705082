/* SPDX-License-Identifier: MIT */
/* IScheduleCollection. MS-PLA 3.2.4.14. */
#include "com/class_table.h"
#include "com/collection.h"

DISPATCH_THUNKS(IScheduleCollection)
COLLECTION_READ_THUNKS(IScheduleCollection, ISchedule, LONG)
COLLECTION_ADD_THUNK(IScheduleCollection, ISchedule)
COLLECTION_REMOVE_THUNK(IScheduleCollection)
COLLECTION_CREATE_THUNK(IScheduleCollection, ISchedule, CreateSchedule, set_schedule_class)

const IScheduleCollectionVtbl schedule_collection_vtable = {
    DISPATCH_SLOTS(IScheduleCollection),
    COLLECTION_READ_SLOTS(IScheduleCollection),
    .Add = IScheduleCollection_Add_thunk,
    .Remove = IScheduleCollection_Remove_thunk,
    .CreateSchedule = IScheduleCollection_CreateSchedule_thunk,
};
ASSERT_SLOTS(IScheduleCollection, COLLECTION_SLOT_COUNT + 1);
