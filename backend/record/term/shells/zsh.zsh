# Deskbell's terminal: tells it where prompts, commands and their ends are (OSC 133). Your own files are read first.
__deskbell_here=$ZDOTDIR
if (( ${+DESKBELL_ZDOTDIR} )); then ZDOTDIR=$DESKBELL_ZDOTDIR; else unset ZDOTDIR; fi
[[ $HISTFILE == $__deskbell_here/* ]] && HISTFILE=${ZDOTDIR:-$HOME}/.zsh_history
unset DESKBELL_ZDOTDIR __deskbell_here
[[ -r ${ZDOTDIR:-$HOME}/.zshrc ]] && . "${ZDOTDIR:-$HOME}/.zshrc"
typeset -g +x __deskbell_k='@NONCE@' __deskbell_out=
__deskbell_esc() {
	emulate -L zsh
	local s=${1[1,16000]}
	s=${s//\\/\\\\}; s=${s//$'\n'/\\x0a}; s=${s//$'\r'/\\x0d}; s=${s//$'\e'/\\x1b}; s=${s//$'\a'/\\x07}; s=${s//$'\x18'/\\x18}; s=${s//$'\x1a'/\\x1a}
	__deskbell_out=$s
}
__deskbell_done() {
	local code=$?
	__deskbell_esc "$PWD"
	print -rn -- $'\e]133;D;'"$__deskbell_k;$code"$'\a\e]133;P;'"$__deskbell_k;$__deskbell_out"$'\a\e]133;A;'"$__deskbell_k"$'\a'
	return $code
}
__deskbell_prompt() {
	local code=$?
	[[ $PS1 == *"133;B;$__deskbell_k"* ]] || PS1="$PS1%{"$'\e]133;B;'"$__deskbell_k"$'\a'"%}"
	return $code
}
__deskbell_begun() {
	local kept=1
	[[ -o hist_ignore_space && $1 == ' '* ]] && kept=0
	__deskbell_esc "$1"
	print -rn -- $'\e]133;C;'"$__deskbell_k;$kept;$__deskbell_out"$'\a'
}
precmd_functions=(__deskbell_done $precmd_functions __deskbell_prompt)
preexec_functions+=(__deskbell_begun)
