/* SPDX-License-Identifier: MIT */
/* IDataManager. MS-PLA 3.2.4.2. */
#include "com/class_table.h"
#include "com/property_thunks.h"

#define INTERFACE IDataManager
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/data_manager.def"
#undef PROPERTY
DISPATCH_THUNKS(IDataManager)

static HRESULT not_here(IDataManager *This, const char *method)
{
    return com_result(This,
                      error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                                "%s: this version keeps the data manager's settings and does not act on them", method));
}

static HRESULT STDMETHODCALLTYPE manager_run(IDataManager *This, DataManagerSteps steps, BSTR folder,
                                             IValueMap **errors)
{
    (void)steps, (void)folder;
    if (!errors)
        return com_no_pointer(This, "Errors");
    *errors = NULL;
    return not_here(This, "Run");
}

static HRESULT STDMETHODCALLTYPE manager_extract(IDataManager *This, BSTR cabinet, BSTR destination)
{
    (void)cabinet, (void)destination;
    return not_here(This, "Extract");
}

const IDataManagerVtbl data_manager_vtable = {
    DISPATCH_SLOTS(IDataManager),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/data_manager.def"
#undef PROPERTY
    .Run = manager_run,
    .Extract = manager_extract,
};
enum {
    IDataManager_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/data_manager.def"
#undef PROPERTY
};
ASSERT_SLOTS(IDataManager, IDataManager_slots + 2);
