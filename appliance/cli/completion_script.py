"""The Tab key's scripts, made of the tree of commands. One core in plain sh serves all three shells."""

from __future__ import annotations

from collections.abc import Iterable

from appliance.cli.completion_tree import Node

_MADE = "# Made by: appliance completion {shell}. It starts nothing but itself, except for the names of chats.\n"

_CORE = """
_appliance_names() {
    case $1 in
    chat) appliance completion names chat 2>/dev/null && return ;;
    esac
    if [ -n "${APPLIANCE_HOME-}" ]; then
        _appliance_folder=$APPLIANCE_HOME/run
    elif [ -r /etc/appliance/home ]; then
        _appliance_folder=/run/appliance
    else
        _appliance_folder=${XDG_DATA_HOME:-$HOME/.local/share}/appliance/run
    fi
    cat "$_appliance_folder/names/$1" 2>/dev/null
}

_appliance_print() {
    for _appliance_word in $1; do
        case $_appliance_word in
        @*) _appliance_names "${_appliance_word#@}" ;;
        *) printf '%s\\n' "$_appliance_word" ;;
        esac
    done
}

# The words before the cursor, then the one under it; prints what may stand there, a line each.
_appliance_candidates() {
    _appliance_path='' _appliance_count=0 _appliance_open=''
    _appliance_at ''
    while [ $# -gt 1 ]; do
        if [ -n "$_appliance_open" ]; then
            _appliance_open=''
            shift
            continue
        fi
        case $1 in
        -*)
            case " $_appliance_valued " in
            *" $1 "*) _appliance_open=$1 ;;
            esac
            ;;
        *)
            case " $_appliance_subs " in
            *" $1 "*)
                _appliance_path="$_appliance_path $1" _appliance_count=0
                _appliance_at "$_appliance_path"
                ;;
            *) _appliance_count=$((_appliance_count + 1)) ;;
            esac
            ;;
        esac
        shift
    done
    if [ -n "$_appliance_open" ]; then
        _appliance_value "$_appliance_path" "$_appliance_open"
        return 0
    fi
    case $1 in
    -*)
        _appliance_print "$_appliance_options"
        return 0
        ;;
    esac
    if [ "$_appliance_count" -eq 0 ]; then _appliance_print "$_appliance_subs"; fi
    case $_appliance_count in
    0) _appliance_print "${_appliance_first:-$_appliance_rest}" ;;
    1) _appliance_print "${_appliance_second:-$_appliance_rest}" ;;
    *) _appliance_print "$_appliance_rest" ;;
    esac
}
"""

_BASH = """
_appliance() {
    local word words current kept line=${COMP_LINE:0:COMP_POINT}
    COMPREPLY=()
    # Not COMP_WORDS: bash splits words at colons and equal signs too, and puts in only what is behind the last one.
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    kept=${current%"${current##*[:=]}"}
    # Names are a stranger's: nothing here may expand them.
    while IFS= read -r word; do
        [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "${word#"$kept"}")")
    done < <(_appliance_candidates "${words[@]:1}")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return 0
}
complete -o bashdefault -o default -F _appliance appliance
"""

_ZSH = """
_appliance_as_sh() {
    emulate -L sh
    _appliance_candidates "$@"
}

_appliance() {
    local -a found
    found=("${(@f)$(_appliance_as_sh "${(@)words[2,CURRENT]}")}")
    found=("${(@)found:#}")
    if ((${#found})); then compadd -a found; else _files; fi
}

if [[ ${funcstack[1]} == _appliance ]]; then _appliance "$@"; else compdef _appliance appliance; fi
"""

_FISH = """
function __appliance_candidates
    set -l words (commandline -opc)
    sh -c '{core}
_appliance_candidates "$@"' sh $words[2..-1] (commandline -ct)
end
complete -c appliance -a '(__appliance_candidates)'
"""


def scripts(tree: Node) -> dict[str, str]:
    """The script of each shell by its name."""
    core = _tables(tree) + _CORE
    in_fish = core.replace("\\", "\\\\").replace("'", "\\'")
    return {
        "bash": _MADE.format(shell="bash") + core + _BASH,
        "zsh": "#compdef appliance\n" + _MADE.format(shell="zsh") + core + _ZSH,
        "fish": _MADE.format(shell="fish") + _FISH.replace("{core}", in_fish),
    }


def _tables(tree: Node) -> str:
    nodes = list(tree.walk())
    places = "\n".join(_place(node) for node in nodes)
    shared = [
        f"    *' {option}') _appliance_print '{' '.join(words)}' ;;" for option, words in tree.values.items() if words
    ]
    values = "\n".join([*(line for node in nodes[1:] for line in _values(node, tree)), *shared])
    return f"""
_appliance_at() {{
    _appliance_subs='' _appliance_options='' _appliance_valued='' _appliance_first='' _appliance_second=''
    _appliance_rest=''
    case $1 in
{places}
    esac
}}

_appliance_value() {{
    case "$1 $2" in
{values}
    esac
}}
"""


def _place(node: Node) -> str:
    """One arm of the first table."""
    slots = [*node.slots]
    rest = slots.pop() if slots and node.repeats else ()
    first, second = (slots[number] if number < len(slots) else () for number in (0, 1))
    fields = {
        "subs": (child.path[-1] for child in node.children),
        "options": node.options,
        "valued": node.values,
        "first": first,
        "second": second,
        "rest": rest,
    }
    given = "".join(f" _appliance_{name}='{words}'" for name, many in fields.items() if (words := " ".join(many)))
    return f"    '{_typed(node.path)}'){given or ' :'} ;;"


def _values(node: Node, root: Node) -> list[str]:
    """The arms of the second table for that place; those of every place are not repeated."""
    return [
        f"    '{_typed(node.path)} {option}') _appliance_print '{' '.join(words)}' ;;"
        for option, words in node.values.items()
        if words and words != root.values.get(option)
    ]


def _typed(path: Iterable[str]) -> str:
    return "".join(f" {word}" for word in path)
