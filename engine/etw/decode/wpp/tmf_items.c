/* SPDX-License-Identifier: MIT */
#include "engine/etw/decode/wpp/tmf_items.h"

#include "engine/etw/decode/value_types.h"

#include <string.h>

/* Names as WDK's pages on WPP and published .tmf files have them. */
const struct tmf_item *tmf_item_find(const char *name)
{
    static const struct tmf_item items[] = {
        {"ItemChar", IN_TYPE_ANSICHAR, 0, 0, TMF_FORM_TEXT},
        {"ItemUChar", IN_TYPE_UINT8, 0, 0, TMF_FORM_NUMBER},
        {"ItemCharSign", IN_TYPE_INT8, 0, 0, TMF_FORM_NUMBER},
        {"ItemCharShort", IN_TYPE_INT8, 0, 0, TMF_FORM_NUMBER},
        {"ItemShort", IN_TYPE_INT16, 0, 0, TMF_FORM_NUMBER},
        {"ItemUShort", IN_TYPE_UINT16, 0, 0, TMF_FORM_NUMBER},
        {"ItemLong", IN_TYPE_INT32, 0, 0, TMF_FORM_NUMBER},
        {"ItemULong", IN_TYPE_UINT32, 0, 0, TMF_FORM_NUMBER},
        {"ItemULongX", IN_TYPE_UINT32, OUT_TYPE_HEXINT32, 0, TMF_FORM_NUMBER},
        {"ItemLongLong", IN_TYPE_INT64, 0, 0, TMF_FORM_NUMBER},
        {"ItemULongLong", IN_TYPE_UINT64, 0, 0, TMF_FORM_NUMBER},
        {"ItemLongLongX", IN_TYPE_UINT64, OUT_TYPE_HEXINT64, 0, TMF_FORM_NUMBER},
        {"ItemLongLongXX", IN_TYPE_UINT64, OUT_TYPE_HEXINT64, 0, TMF_FORM_NUMBER},
        {"ItemLongLongO", IN_TYPE_UINT64, 0, 0, TMF_FORM_NUMBER},
        {"ItemPtr", IN_TYPE_POINTER, 0, 0, TMF_FORM_NUMBER},
        {"ItemFloat", IN_TYPE_FLOAT, 0, 0, TMF_FORM_REAL},
        {"ItemDouble", IN_TYPE_DOUBLE, 0, 0, TMF_FORM_REAL},
        {"ItemString", IN_TYPE_ANSISTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemWString", IN_TYPE_UNICODESTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemRString", IN_TYPE_ANSISTRING, 0, 0, TMF_FORM_ONE_LINE},
        {"ItemRWString", IN_TYPE_UNICODESTRING, 0, 0, TMF_FORM_ONE_LINE},
        {"ItemPString", IN_TYPE_COUNTEDANSISTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemPWString", IN_TYPE_COUNTEDSTRING, 0, 0, TMF_FORM_TEXT},
        {"ItemGuid", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemCLSID", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemIID", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemLIBID", IN_TYPE_GUID, 0, 0, TMF_FORM_TEXT},
        {"ItemSid", IN_TYPE_SID, 0, 0, TMF_FORM_TEXT},
        {"ItemIPAddr", IN_TYPE_UINT32, OUT_TYPE_IPV4, 0, TMF_FORM_TEXT},
        {"ItemIPV6Addr", IN_TYPE_BINARY, OUT_TYPE_IPV6, 16, TMF_FORM_TEXT},
        {"ItemMACAddr", IN_TYPE_BINARY, 0, 6, TMF_FORM_TEXT},
        {"ItemPort", IN_TYPE_UINT16, OUT_TYPE_PORT, 0, TMF_FORM_TEXT},
        {"ItemNTSTATUS", IN_TYPE_UINT32, OUT_TYPE_NTSTATUS, 0, TMF_FORM_TEXT},
        {"ItemWINERROR", IN_TYPE_UINT32, OUT_TYPE_WIN32ERROR, 0, TMF_FORM_TEXT},
        {"ItemHRESULT", IN_TYPE_INT32, OUT_TYPE_HRESULT, 0, TMF_FORM_TEXT},
        {"ItemTimestamp", IN_TYPE_FILETIME, 0, 0, TMF_FORM_TIME},
        {"ItemTimeDelta", IN_TYPE_INT64, 0, 0, TMF_FORM_SPAN},
        {"ItemWaitTime", IN_TYPE_INT64, 0, 0, TMF_FORM_SPAN},
        {"ItemHexDump", IN_TYPE_MANIFEST_COUNTEDBINARY, 0, 0, TMF_FORM_TEXT},
        {"ItemListByte", IN_TYPE_UINT8, 0, 0, TMF_FORM_LIST},
        {"ItemListShort", IN_TYPE_UINT16, 0, 0, TMF_FORM_LIST},
        {"ItemListLong", IN_TYPE_UINT32, 0, 0, TMF_FORM_LIST},
        {"ItemSetByte", IN_TYPE_UINT8, 0, 0, TMF_FORM_SET},
        {"ItemSetShort", IN_TYPE_UINT16, 0, 0, TMF_FORM_SET},
        {"ItemSetLong", IN_TYPE_UINT32, 0, 0, TMF_FORM_SET},
        {"ItemEnum", IN_TYPE_UINT32, 0, 0, TMF_FORM_NUMBER},
        {"ItemFlagsEnum", IN_TYPE_UINT32, OUT_TYPE_HEXINT32, 0, TMF_FORM_NUMBER},
    };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        if (strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}
