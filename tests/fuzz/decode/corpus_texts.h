/* SPDX-License-Identifier: MIT */
/* Small files as users write them, for make_corpus. Together they contain each word of the three languages. */
#ifndef OPENPLA_TEST_CORPUS_TEXTS_H
#define OPENPLA_TEST_CORPUS_TEXTS_H

/* ---- MOF ---- */

static const char corpus_mof_types[] =
    "[Guid(\"{7C214FB1-9CAC-4b8d-BAED-7BF48BF63BB3}\")] class P:EventTrace{};\n"
    "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\"),EventVersion(2),DisplayName(\"d\")] class C:P{};\n"
    "[EventType{1,2},EventTypeName{\"A\",\"B\"}] class E:C{\n"
    "[WmiDataId(1)] uint32 N; [WmiDataId(2),Format(\"w\"),StringTermination(\"NullTerminated\")] string S;\n"
    "[WmiDataId(3),StringTermination(\"Counted\")] string C; [WmiDataId(4),StringTermination(\"ReverseCounted\")] "
    "string "
    "R;\n"
    "[WmiDataId(5),Extension(\"Guid\")] object G; [WmiDataId(6),Extension(\"Sid\")] object I;\n"
    "[WmiDataId(7),Extension(\"Port\")] object Q; [WmiDataId(8),Extension(\"IPAddrV6\")] object V;\n"
    "[WmiDataId(9),Pointer] uint32 A; [WmiDataId(10),Format(\"x\")] uint64 X; [WmiDataId(11)] boolean B;\n"
    "[WmiDataId(12),Format(\"s\")] char16 F[4]; [WmiDataId(13),WmiSizeIs(\"N\")] uint8 D[];\n"
    "[WmiDataId(14),Extension(\"WmiTime\")] object T; [WmiDataId(15),Extension(\"Variant\")] object Y;\n"
    "[WmiDataId(16),Extension(\"NoPrint\")] uint8 Z; [WmiDataId(17),Extension(\"SizeT\")] object W;\n"
    "[WmiDataId(18),StringTermination(\"NotCounted\"),Max(4)] string L;};\n";
static const char corpus_mof_maps[] =
    "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\")] class C:EventTrace{};\n"
    "[EventType(0x10)] class E:C{\n"
    "[WmiDataId(1),Values{\"a\",\"b\"},ValueMap{\"1\",\"2\"}] uint8 A;\n"
    "[WmiDataId(2),Values{\"a\",\"b\"},ValueMap{\"0x1\",\"0x2\"},ValueType(\"flag\")] uint32 B;\n"
    "[WmiDataId(3),BitValues{\"a\",\"b\"},BitMap{\"0\",\"3\"}] uint32 C;\n"
    "[WmiDataId(4),DefineValues{\"X\"},ValueMap{\"..\"}] sint16 D; [WmiDataId(5),DefineBitMap{\"Y\"}] sint64 E;\n"
    "[WmiDataId(6),XMLFragment] string F; [WmiDataId(7),PointerType] uint32 G; real32 H; real64 I; datetime J;};\n";
static const char corpus_mof_language[] =
    "#pragma namespace(\"\\\\\\\\.\\\\root\\\\wmi\\\\ms_407\")\n#pragma autorecover\n"
    "qualifier Q:string=null,scope(any),flavor(DisableOverride);\n"
    "[Guid(\"{B49D5931-AD85-4070-B1B1-3F81F1532875}\"):Amended EnableOverride ToSubclass] class C:EventTrace{};\n"
    "/* c */ [EventType(-1)] class E:C{ // d\n[WmiDataId(1),read,key] uint32 N=0x1F; void M([in] uint8 p); C ref K;};\n"
    "instance of C { N=1; S={\"a\" \"b\",\"\\x41\"}; R='c'; T=true; U=1.5e3; };\n";

/* ---- TMF ---- */

#define TMF_HEAD "d58c126f-b309-11d1-969e-0000f875a5bc own // SRC=a.c MJ=Drivers MN=Trace\n"
static const char *const corpus_tmfs[] = {
    "// PDB: a.pdb\n" TMF_HEAD "#typev a_1 11 \"%0Hi, %10!s! %11!08X! %!FUNC! 100%%\" //   LEVEL=E FLAGS=F FUNC=G\n"
    "{\nname, ItemString -- 10\nArg, ItemLong -- 11\n}\n#type a_2 12 \"%0%!LEVEL! %!FLAGS! %!COMPNAME!\" // \n{\n}\n",
    TMF_HEAD "#typev b 10 \"%0%10!d!%11!u!%12!I64x!%13!c!%14!p!%15!f!%16!s!%17!s!%18!s!\" // \n{\n"
             "a, ItemShort -- 10\nb, ItemULong -- 11\nc, ItemLongLongX -- 12\nd, ItemChar -- 13\ne, ItemPtr -- 14\n"
             "f, ItemDouble -- 15\ng, ItemWString -- 16\nh, ItemGuid -- 17\ni, ItemRString -- 18\n}\n",
    TMF_HEAD "#typev c 11 \"%0%10!s!%11!s!%12!s!%13!s!%14!s!%15!s!%16!s!%17!s!\" // \n{\n"
             "a, ItemListLong(off,on) -- 10\nb, ItemSetByte(x,y) -- 11\nc, ItemNTSTATUS -- 12\nd, ItemIPAddr -- 13\n"
             "e, ItemPort -- 14\nf, ItemSid -- 15\ng, ItemTimestamp -- 16\nh, ItemHexDump -- 17\n}\n",
    TMF_HEAD "#typev d 12 \"%0%10!s!%11!s!%12!s!%13!s!%14!s!\" // \n{\na, ItemPString -- 10\nb, ItemPWString -- 11\n"
             "c, ItemRWString -- 12\nd, ItemTimeDelta -- 13\ne, ItemEnum(E) -- 14\n}\n#enumv E\n",
};

/* ---- manifests ---- */

#define CORPUS_FRAME(parts)                                                                                            \
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'><instrumentation"                \
    " xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><events>"                                  \
    "<provider name='P' guid='{5c8bb950-959e-4309-8908-67961a1205d5}' symbol='S'>" parts                               \
    "</provider></events></instrumentation><localization><resources culture='en-US'><stringTable>"                     \
    "<string id='a' value='%1!s! &amp; %2%n'/></stringTable></resources></localization></instrumentationManifest>"
static const char *const corpus_manifests[] = {
    CORPUS_FRAME("<events><event value='1'/></events>"),
    CORPUS_FRAME(
        "<templates><template tid='T'><data name='N' inType='win:UInt8'/><data name='B' inType='win:Binary' "
        "length='N'/><struct name='S' count='N'><data name='M' inType='win:UnicodeString' outType='xs:string'/>"
        "</struct><data name='A' inType='win:AnsiString' length='8'/><data name='C' inType='win:UInt32' "
        "count='3' outType='win:IPv4'/></template></templates>"
        "<events><event value='1' version='2' template='T' message='$(string.a)'/></events>"),
    CORPUS_FRAME(
        "<levels><level name='L' value='17' message='$(string.a)'/></levels><tasks><task name='T' value='7' "
        "eventGUID='{11111111-2222-3333-4444-555555555555}'><opcodes><opcode name='O' value='20'/></opcodes>"
        "</task></tasks><opcodes><opcode name='Q' value='11'/></opcodes><keywords><keyword name='K' mask='0x4'/>"
        "</keywords><events><event value='1' level='L' task='T' opcode='O' keywords='K win:SQM'/>"
        "<event value='2' level='win:Error' opcode='win:Start'/></events>"),
    CORPUS_FRAME(
        "<channels><importChannel chid='I' name='System'/><channel chid='C' name='P/Operational' "
        "type='Operational' enabled='true' isolation='System' access='O:BA'><logging><maxSize>1048576</maxSize>"
        "</logging><publishing><level>4</level><clockType>QPC</clockType></publishing></channel></channels>"
        "<events><event value='1' channel='C' notLogged='true'/></events>"),
    CORPUS_FRAME(
        "<maps><valueMap name='V'><map value='1' message='$(string.a)'/></valueMap><bitMap name='W'>"
        "<map value='0x4' message='$(string.a)'/></bitMap></maps><templates><template tid='T'>"
        "<data name='A' inType='win:UInt8' map='V'/><data name='B' inType='win:HexInt32' map='W'/>"
        "<UserData><X xmlns='urn:t' k='x'><Y>%1</Y><Z/>t</X></UserData></template></templates>"
        "<filters><filter name='F' value='3' tid='T'/></filters><events><event value='1' template='T'/></events>"),
};

#endif
