/* SPDX-License-Identifier: MIT */
/* ISchedule. MS-PLA 3.2.4.12. */
#include "com/class_table.h"
#include "com/property_thunks.h"

#define INTERFACE ISchedule
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/schedule.def"
#undef PROPERTY
DISPATCH_THUNKS(ISchedule)

const IScheduleVtbl schedule_vtable = {
    DISPATCH_SLOTS(ISchedule),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/schedule.def"
#undef PROPERTY
};
enum {
    ISchedule_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/schedule.def"
#undef PROPERTY
};
ASSERT_SLOTS(ISchedule, ISchedule_slots);
