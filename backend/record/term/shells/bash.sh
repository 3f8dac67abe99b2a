# Deskbell's terminal: tells it where prompts, commands and their ends are (OSC 133). Your own files are read first.
if [ -r ~/.bashrc ]; then . ~/.bashrc; fi
__deskbell_k='@NONCE@'
export -n __deskbell_k
__deskbell_esc() {
	local s=${1:0:16000} i c
	s=${s//\\/\\\\} s=${s//$'\n'/\\x0a} s=${s//$'\r'/\\x0d} s=${s//$'\e'/\\x1b} s=${s//$'\a'/\\x07} s=${s//$'\x18'/\\x18} s=${s//$'\x1a'/\\x1a}
	__deskbell_out=$s
}
__deskbell_last() { HISTTIMEFORMAT='' builtin history 1 2>/dev/null; }
__deskbell_done() {
	local code=$?
	__deskbell_esc "$PWD"
	printf '\e]133;D;%s;%s\a\e]133;P;%s;%s\a\e]133;A;%s\a' "$__deskbell_k" "$code" "$__deskbell_k" "$__deskbell_out" "$__deskbell_k"
	return "$code"
}
__deskbell_prompt() {
	local code=$?
	__deskbell_seen=$(__deskbell_last)
	case $PS1 in *'133;B;${__deskbell_k}'*) ;; *) PS1="$PS1"'\[\e]133;B;${__deskbell_k}\a\]' ;; esac
	case $PS0 in *__deskbell_begun*) ;; *) PS0="$PS0"'$(__deskbell_begun)' ;; esac
	return "$code"
}
__deskbell_begun() {
	local now kept=0
	now=$(__deskbell_last)
	[ "$now" = "$__deskbell_seen" ] || kept=1
	[[ $now =~ ^[[:space:]]*[0-9]+[*]?[[:space:]][[:space:]](.*)$ ]] && now=${BASH_REMATCH[1]} || now=
	__deskbell_esc "$now"
	printf '\e]133;C;%s;%s;%s\a' "$__deskbell_k" "$kept" "$__deskbell_out"
}
if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
	PROMPT_COMMAND=(__deskbell_done "${PROMPT_COMMAND[@]}" __deskbell_prompt)
else
	PROMPT_COMMAND="__deskbell_done"$'\n'"${PROMPT_COMMAND-}"$'\n'"__deskbell_prompt"
fi
