"""What a shell must know to ask at TAB: a script for each, where PYTHON stands for the interpreter that answers.

A script takes nothing away: what completed ``python`` before still does on every line that runs something else.
"""

# Readline replaces only what follows the last of COMP_WORDBREAKS, which is $2; a choice is a whole word.
# Without compopt (bash 3.2), a blank follows nothing, or it would follow every choice.
_BASH = r"""
_harness_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" found choice
    if [[ $line == *"-m harness"* || $line == *scripts/sweep* || ${1##*/} == harness ]] &&
        found=$(COMP_LINE="$line" PYTHON -m harness -sc query=bash </dev/null 2>/dev/null); then
        compopt -o nospace +o default +o bashdefault 2>/dev/null
        local word="${line##*[[:space:]]}"
        COMPREPLY=()
        while IFS= read -r choice; do
            [ -z "$choice" ] || COMPREPLY+=("${choice#"${word%"$2"}"}")
        done <<<"$found"
    elif [[ "${_harness_before-} " =~ " ${1##*/}:"([^ ]+) ]]; then
        "${BASH_REMATCH[1]}" "$@"
    fi
}
for _harness_name in python python3 bash; do
    if ! complete -p "$_harness_name" &>/dev/null && declare -F _completion_loader >/dev/null; then
        _completion_loader "$_harness_name" # where completions are read when they are first needed
    fi
    if [[ $(complete -p "$_harness_name" 2>/dev/null) =~ " -F "([^ ]+) && ${BASH_REMATCH[1]} != _harness_completion ]]; then
        _harness_before+=" $_harness_name:${BASH_REMATCH[1]}"
    fi
done
complete $( ((BASH_VERSINFO[0] < 4)) && echo -o nospace) -o bashdefault -o default -F _harness_completion harness sweep python python3 bash
"""

_ZSH = r"""
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_harness_completion() {
    local line="${(j: :)words[1,CURRENT-1]} $PREFIX" found
    if [[ $line != *("-m harness"|scripts/sweep)* && $service != harness ]]; then
        if [[ $service == python* ]] && (( $+functions[_python] )); then _python "$@"; else _default "$@"; fi
    elif found=$(COMP_LINE=$line PYTHON -m harness -sc query=zsh </dev/null 2>/dev/null); then
        compadd -S '' -- ${(f)found}
    else
        compset -P '*='
        _files
    fi
}
compdef _harness_completion harness sweep python python3 bash
"""

_FISH = r"""
function __harness_completion
    set -lx COMP_LINE (commandline -cp)
    string match -q -r -- '-m harness|scripts/sweep|^(\S*/)?harness ' $COMP_LINE
    and set -g __harness_found (PYTHON -m harness -sc query=fish </dev/null 2>/dev/null)
end
for name in harness sweep python python3 bash
    complete -c $name -f -n __harness_completion -a '$__harness_found'
    complete -c $name -s m -x -n __harness_completion -a '$__harness_found' # python's -m, else all that follows is its own
end
"""

SCRIPTS = {"bash": _BASH.lstrip(), "zsh": _ZSH.lstrip(), "fish": _FISH.lstrip()}
