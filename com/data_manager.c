/* SPDX-License-Identifier: MIT */
/* IDataManager. MS-PLA 3.2.4.2. */
#include "com/skin.h"

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

#define INTERFACE    IDataManager
#define ROWS         "engine/model/data_manager.def"
#define METHODS      .Run = manager_run, .Extract = manager_extract
#define METHOD_COUNT 2
#include "com/object_vtable.inc"
