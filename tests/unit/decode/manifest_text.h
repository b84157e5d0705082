/* SPDX-License-Identifier: MIT */
/* Manifests for tests: one event provider that uses every element, and frames for parts of a provider. */
#ifndef OPENPLA_MANIFEST_TEXT_H
#define OPENPLA_MANIFEST_TEXT_H

#define MANIFEST_BEGIN                                                                                                 \
    "<?xml version='1.0' encoding='UTF-8'?>\n"                                                                         \
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'\n"                               \
    " xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'"                                           \
    " xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n"                                                                  \
    "<instrumentation><events>\n"
#define PROVIDER_GUID_TEXT       "{5c8bb950-959e-4309-8908-67961a1205d5}"
#define PROVIDER_GUID_TEXT_UPPER "{5C8BB950-959E-4309-8908-67961A1205D5}"
#define PROVIDER_BEGIN                                                                                                 \
    "<provider name='Test-Provider' guid='" PROVIDER_GUID_TEXT "' symbol='TEST' resourceFileName='test.dll'"           \
    " messageFileName='test.dll' message='$(string.provider)'>\n"
#define PROVIDER_END "</provider>\n"
#define MANIFEST_END                                                                                                   \
    "</events></instrumentation>\n"                                                                                    \
    "<localization>\n"                                                                                                 \
    "<resources culture='de-DE'><stringTable>"                                                                         \
    "<string id='provider' value='Pr\xC3\xBC"                                                                          \
    "fanbieter'/><string id='read' value='Lesen'/>"                                                                    \
    "<string id='done' value='%2 gelesen aus %1!s!'/><string id='red' value='Rot'/>"                                   \
    "</stringTable></resources>\n"                                                                                     \
    "<resources culture='en-US'><stringTable>"                                                                         \
    "<string id='provider' value='Test provider'/><string id='read' value='Reading'/>"                                 \
    "<string id='done' value='%2 read from %1!s!'/><string id='red' value='Red'/><string id='green' value='Green '/>"  \
    "</stringTable></resources>\n"                                                                                     \
    "</localization></instrumentationManifest>\n"

#define WHOLE_PARTS                                                                                                    \
    "<channels><importChannel chid='SYS' name='System'/>"                                                              \
    "<channel chid='OP' name='Test/Operational' type='Operational' enabled='true' isolation='System'"                  \
    " access='O:BAG:SYD:(A;;0x1;;;SY)' message='$(string.read)'>"                                                      \
    "<logging><maxSize>1048576</maxSize><retention>true</retention></logging>"                                         \
    "<publishing><level>4</level><keywords>0x10</keywords><clockType>QPC</clockType></publishing></channel>"           \
    "</channels>\n"                                                                                                    \
    "<levels><level name='Fine' value='17' message='$(string.red)'/></levels>\n"                                       \
    "<tasks><task name='Read' value='7' eventGUID='{11111111-2222-3333-4444-555555555555}' message='$(string.read)'>"  \
    "<opcodes><opcode name='Part' value='20'/></opcodes></task><task name='Write' value='8'/></tasks>\n"               \
    "<opcodes><opcode name='Part' value='11' message='$(string.green)'/></opcodes>\n"                                  \
    "<keywords><keyword name='Disk' mask='0x4' message='$(string.red)'/><keyword name='Net' mask='8'/></keywords>\n"   \
    "<events>"                                                                                                         \
    "<event value='1' symbol='ReadDone' level='win:Informational' task='Read' opcode='Part' keywords='Disk Net'"       \
    " channel='OP' template='Done' message='$(string.done)'/>"                                                         \
    "<event value='1' version='2' level='Fine' task='Write' opcode='Part' template='Parts' notLogged='true'/>"         \
    "<event value='2' level='win:Error' opcode='win:Start' keywords='win:ResponseTime' template='Shaped'/>"            \
    "<event value='3'/></events>\n"                                                                                    \
    "<maps><valueMap name='Colours'><map value='1' message='$(string.red)'/>"                                          \
    "<map value='2' message='$(string.green)'/></valueMap>"                                                            \
    "<bitMap name='Bits'><map value='0x1' message='$(string.red)'/><map value='0x4' message='$(string.green)'/>"       \
    "</bitMap></maps>\n"                                                                                               \
    "<templates>"                                                                                                      \
    "<template tid='Done'><data name='File' inType='win:UnicodeString'/>"                                              \
    "<data name='Bytes' inType='win:UInt32' outType='win:HexInt32'/>"                                                  \
    "<data name='Colour' inType='win:UInt8' map='Colours'/><data name='Flags' inType='win:HexInt32' map='Bits'/>"      \
    "</template>"                                                                                                      \
    "<template tid='Parts'><data name='Count' inType='win:UInt16'/>"                                                   \
    "<struct name='Part' count='Count'><data name='Size' inType='win:UInt8'/>"                                         \
    "<data name='Bytes' inType='win:Binary' length='Size'/></struct>"                                                  \
    "<data name='Name' inType='win:AnsiString' length='8'/><data name='Three' inType='win:UInt32' count='3'/>"         \
    "<data name='Rest' inType='win:Binary'/></template>"                                                               \
    "<template tid='Shaped'><data name='Code' inType='win:UInt32' outType='win:Win32Error'/>"                          \
    "<UserData><Failed xmlns='urn:test' kind='x'><Code>%1</Code><Empty/>Text &amp; "                                   \
    "more</Failed></UserData></template>"                                                                              \
    "</templates>\n"                                                                                                   \
    "<filters><filter name='Only' value='3' version='1' tid='Done'/></filters>\n"

#define WHOLE_MANIFEST MANIFEST_BEGIN PROVIDER_BEGIN WHOLE_PARTS PROVIDER_END MANIFEST_END

#endif
