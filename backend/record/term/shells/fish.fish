# Deskbell's terminal: tells it where prompts, commands and their ends are (OSC 133). It runs after your own config.
set -g __deskbell_k '@NONCE@'
function __deskbell_esc
    string sub -l 16000 -- "$argv[1]" | string replace -a '\\' '\\\\' | string replace -a \r '\\x0d' | string replace -a \e '\\x1b' | string replace -a \a '\\x07' | string replace -a \x18 '\\x18' | string replace -a \x1a '\\x1a' | string join '\\x0a'
end
function __deskbell_begun --on-event fish_preexec
    set -l kept 1
    string match -q ' *' -- $argv[1]; and set kept 0
    printf '\e]133;C;%s;%s;%s\a' $__deskbell_k $kept (__deskbell_esc "$argv[1]")
end
function __deskbell_done --on-event fish_postexec
    printf '\e]133;D;%s;%s\a' $__deskbell_k $status
end
functions -c fish_prompt __deskbell_own_prompt
function fish_prompt
    printf '\e]133;P;%s;%s\a\e]133;A;%s\a' $__deskbell_k (__deskbell_esc "$PWD") $__deskbell_k
    __deskbell_own_prompt
    printf '\e]133;B;%s\a' $__deskbell_k
end
