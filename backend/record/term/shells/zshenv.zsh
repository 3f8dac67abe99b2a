__deskbell_here=$ZDOTDIR
if (( ${+DESKBELL_ZDOTDIR} )); then ZDOTDIR=$DESKBELL_ZDOTDIR; else ZDOTDIR=$HOME; fi
[[ -r $ZDOTDIR/.zshenv ]] && . "$ZDOTDIR/.zshenv"
[[ $ZDOTDIR == $HOME ]] || DESKBELL_ZDOTDIR=$ZDOTDIR
ZDOTDIR=$__deskbell_here
unset __deskbell_here
