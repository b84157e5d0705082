# SPDX-License-Identifier: MIT
# Sets that are stored: in OPENPLA_DATA, or else of the package's prefix, of WINEPREFIX and natively. A name is that of
# its file, in which %XX is a character.
function __openpla_sets
    set -l share "$HOME/.local/share"
    set -q XDG_DATA_HOME; and set share "$XDG_DATA_HOME"
    set -l prefixes "$share/openpla/prefix" "$HOME/.wine"
    set -q OPENPLA_PREFIX; and set prefixes[1] "$OPENPLA_PREFIX"
    set -q WINEPREFIX; and set prefixes[2] "$WINEPREFIX"
    set -l places $prefixes/drive_c/ProgramData/OpenPLA "$HOME/.openpla"
    string match -q '/*' -- "$OPENPLA_DATA"; and set places "$OPENPLA_DATA"
    for data in $places
        for file in $data/sets/Service/*/*.xml
            set -l name (string replace -r '.*/(.*)\.xml$' '$1' -- $file)
            string match -q '%~*' -- $name; or string unescape --style=url -- $name
        end
    end
end
# The words that can stand at the cursor, with what they mean after a tab. Files are offered besides, by fish.
function __openpla_words
    set -l line (commandline -opc)
    set -l word (commandline -ct)
    set -l verb (string replace -r '^.*/' '' -- $line[1] | string replace -r '\.exe$' '')
    set -l before (string lower -- $line[-1])
    set -l i 2
    set -l sub
    set -l verbs
    set -l options
    set -l values
    set -l fixed
    if test "$verb" = openpla
        test (count $line) -ge 2; and test (string lower -- $line[2]) = help; and set i 3
        if test (count $line) -lt $i
            printf '%s\n' "help"\t"shows the help of a verb" $__openpla_summaries
            return
        end
        set verb $line[$i]
        set i (math $i + 1)
    end
    set verb (string lower -- $verb)
    __openpla_table "$verb"
    while test $i -le (count $line)
        set -l one (string lower -- $line[$i])
        if contains -- $one $verbs
            set sub "$sub $one"
            set verbs
            __openpla_table "$verb$sub"
        end
        set i (math $i + 1)
    end
    if string match -q -- '-*' $word
        printf '%s\n' $options
    else if not contains -- $before $values
        printf '%s\n' $verbs
        string match -qr '^logman (delete|export|query|start|stop|update)$' -- "$verb$sub"; and __openpla_sets
    else
        for one in $fixed
            string match -q -- "$before=*" $one; and string split '|' -- (string replace -- "$before=" '' $one)
        end
    end
end
for __openpla_tool in @TOOLS@
    complete -c $__openpla_tool -a '(__openpla_words)'
end
