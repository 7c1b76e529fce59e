# shellcheck shell=sh
# What systemd/install does, step by step; it is read in by that script, whose variables it uses.
# shellcheck disable=SC2154

# ------------------------------------------------------------------------------------------------------------- versions
#
# Each version has a folder of its own for ever, since an environment of Python holds its place in its files and cannot
# be moved. `current` is a link to one of them: replacing a link by renaming another over it is one step for the
# kernel, and a program that still runs goes on loading its own files.

# The version that $opt/$1 is linked to, "none" without.
linked() {
    target=$(readlink "$opt/$1") || target=none
    echo "${target##*/}"
}

# Lets $1 be a link to $2, from one moment to the next.
point() {
    [ "$(readlink "$1")" != "$2" ] || return 0
    ln -sfn "$2" "$1.new"
    mv -fT "$1.new" "$1"
}

# The name tells whether two checkouts are the same program.
name_version() {
    number=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$checkout/appliance/__init__.py")
    parts='appliance plugins soul firmware systemd run pyproject.toml requirements.lock'
    # shellcheck disable=SC2086
    digest=$(cd "$checkout" && find $parts -type f ! -path '*/__pycache__/*' -exec sha256sum {} + | LC_ALL=C sort |
        sha256sum | cut -c 1-12)
    echo "$number-$digest"
}

# An upgrade of the system may have taken away the Python that version $1 was made for.
is_whole() { [ -e "$opt/versions/$1/.whole" ] && "$opt/versions/$1/bin/appliance" --version >/dev/null 2>&1; }

# The store of a home in use is copied with SQLite's own means. $1: a version; the rest goes to store.py.
store() {
    folder=$opt/versions/$1
    shift
    as "${store_user:-$owner}" "$folder/bin/python" -I -B "$folder/systemd/store.py" "$@"
}

# The store as version $1 left it. So named, it goes when a chat is deleted, like the store's own copies.
copy_of() { echo "$home/appliance.db.schema-of-$1"; }

# $1: what is done, in words; $2: the function that does it.
step() {
    number=$((number + 1))
    say "$number/$steps $1"
    "$2"
    done_with
}

# After each change that may be the last one. This script's own tests kill it here.
done_with() {
    actions=$((actions + 1))
    [ "${APPLIANCE_INSTALL_KILL_AFTER-}" != "$actions" ] || kill -9 $$
}

# ------------------------------------------------------------------------------------------------------------ the steps

build() {
    is_whole "$new" && return
    folder=$opt/versions/$new
    # The version in force may have lost its Python.
    [ "$(linked current)" != "$new" ] || stop
    rm -rf "$folder"
    mkdir -p "$opt/versions"
    [ -z "$wheels" ] || export PIP_NO_INDEX=1 PIP_FIND_LINKS="$wheels"
    "$checkout/run" copy "$folder" 8>&- || fail "the program is not complete; nothing else was changed"
    mkdir "$folder/libexec"
    cp "$checkout/appliance/adapters/worker_program.py" "$folder/libexec/"
    cp -R "$checkout/systemd" "$folder/systemd"
    sync
    : >"$folder/.whole"
}

make_user() {
    [ -z "$is_personal" ] || return 0
    source=$opt/versions/$new/systemd
    # Those that the system has not, so that an uninstallation leaves nobody else's.
    sed -n 's/^g \([a-z0-9]*\) .*/\1/p' "$source/appliance.sysusers" | while read -r group; do
        getent group "$group" >/dev/null || echo "$group" >>"$opt/own-groups"
    done
    systemd-sysusers "$source/appliance.sysusers"
}

bring_data() {
    [ -z "$trial_home" ] || adopt_trial_home
    if [ -n "$is_personal" ]; then
        as_owner mkdir -p "$home"
    else
        systemd-tmpfiles --create "$opt/versions/$new/systemd/appliance.tmpfiles"
    fi
}

# A copy is made beside the home and takes its place whole.
adopt_trial_home() {
    copy=${home%/*}/.appliance-taken-over
    rm -rf "$copy"
    hold_trial_home
    cp -a "$trial_home" "$copy"
    rm -rf "$copy/lock" "$copy/run" "$copy/cache" "$copy"/appliance.db*
    # The copy is not the owner's yet.
    store_user=root
    store "$new" copy "$trial_home/appliance.db" "$copy/appliance.db" ||
        fail "the store in $trial_home cannot be read; --no-adopt begins with an empty home"
    store_user=
    exec 7>&-
    echo "$trial_home" >"$copy/taken-over-from"
    chown -R "$owner:" "$copy"
    for folder in plugins installed; do [ ! -d "$copy/$folder" ] || chown -R root:root "$copy/$folder"; done
    sync
    done_with
    # It holds no files, or an older copy of the same.
    rm -rf "$home"
    mv -T "$copy" "$home"
}

hold_trial_home() {
    [ -e "$trial_home/lock" ] || return 0
    exec 7<"$trial_home/lock"
    flock -n 7 || fail "the box runs on $trial_home; stop it there, so that its data can be taken over"
}

bring_weights() {
    program "$new" models fetch >&2 ||
        fail "the speech weights are not all there; see above. Nothing else was changed"
}

# Does it hear, think and speak? On a copy of the data, with no network, sound or face, while the old version runs.
check_health() {
    [ "$(linked current)" != "$new" ] || return 0
    rm -rf /var/tmp/appliance-check.*
    check=$(as_owner mktemp -d /var/tmp/appliance-check.XXXXXX)
    store "$new" copy "$home/appliance.db" "$check/appliance.db" || fail "the store of $home cannot be read"
    # Without plugins: what strangers wrote says nothing about the version.
    [ ! -d "$home/soul" ] || as_owner cp -R "$home/soul" "$check/"
    [ ! -d "$home/models" ] || as_owner ln -s "$home/models" "$check/"
    for settings in "$home/config.toml" "$etc/config.toml"; do
        [ ! -f "$settings" ] || as_owner cp "$settings" "$check/config.toml"
    done
    if answers "$check"; then
        rm -rf "$check"
    else
        rm -rf "$check"
        [ "$(linked previous)" = "$new" ] || rm -rf "$opt/versions/$new"
        fail "version $new does not answer a question (see above), so it was removed; $(what_runs)"
    fi
}

answers() {
    demo=$(find "$opt/versions/$new/lib" -path '*/_shipped/soul/demo.wav' -print -quit)
    # Some containers may not have a network of their own; the model is out of reach all the same.
    ! unshare --net true 2>/dev/null || in_what='unshare --net'
    as_owner HOME="$1" APPLIANCE_HOME="$1" timeout 300 "$opt/versions/$new/bin/appliance" \
        ask "$demo" --out "$1/reply.wav" --set think.url= --set face.backends= >&2 && [ -s "$1/reply.wav" ]
    answered=$?
    # shellcheck disable=SC2034  # see as()
    in_what=
    return $answered
}

what_runs() {
    case $(linked current) in
        none) echo "nothing was started" ;;
        *) echo "version $(linked current) goes on as before" ;;
    esac
}

# From the version before to the new one. While $unfinished is there, the next call sees where it was cut off.
change_over() {
    before=$(linked current)
    [ "$before" != "$new" ] || return 0
    echo "$before $new" >"$unfinished.new"
    mv "$unfinished.new" "$unfinished"
    done_with
    stop
    done_with
    [ "$before" = none ] || store "$new" copy "$home/appliance.db" "$(copy_of "$before")" || give_up_change
    done_with
    point "$opt/current" "versions/$new"
    sync
    done_with
    take_older_store
}

give_up_change() {
    rm "$unfinished"
    start || :
    fail "the store of $home cannot be copied, see above; $(what_runs)"
}

# Only --rollback sets it. After the link and not before: what the newer version knew is then never overwritten.
older_store=
take_older_store() { [ -z "$older_store" ] || store "$new" restore "$older_store" "$home/appliance.db"; }

stop() {
    # shellcheck disable=SC2086  # names
    if [ -n "$is_personal" ] || [ -e /etc/systemd/system/appliance.service ]; then manager stop $units; fi
}

# Everything outside the program's folder, for the version that the link says; then it must start.
put_in_force() {
    point "$command_line" "$opt/current/bin/appliance"
    put_completion
    done_with
    [ -n "$is_personal" ] || bring_settings
    done_with
    put_files "$(linked current)"
    done_with
    start || go_back
    done_with
    confirm
}

# For the Tab key, where the system has completion at all. It is made from the program's own commands.
put_completion() {
    [ -d "${completion%/*}" ] || return 0
    made=$("$command_line" completion bash 2>/dev/null) || return 0
    if printf '%s\n' "$made" | cmp -s - "$completion"; then return; fi
    printf '%s\n' "$made" >"$completion.new"
    mv "$completion.new" "$completion"
}

# The home tells the command line that there is a service; its settings are in /etc.
bring_settings() {
    if [ ! -e "$etc/config.toml" ] && [ -e "$home/config.toml" ]; then
        cp "$home/config.toml" "$etc/config.toml.new"
        chmod 644 "$etc/config.toml.new"
        mv "$etc/config.toml.new" "$etc/config.toml"
        sync
        ! grep -q '"/home/' "$etc/config.toml" ||
            say "Warning: settings in $etc/config.toml name files under /home, which the service cannot see."
    fi
    rm -f "$home/config.toml"
    [ "$(cat "$etc/home" 2>/dev/null)" != "$home" ] || return 0
    echo "$home" >"$etc/home.new"
    mv "$etc/home.new" "$etc/home"
}

# $1: the version.
put_files() {
    source=$opt/versions/$1/systemd
    if [ -n "$is_personal" ]; then
        put_personal_unit
        return
    fi
    echo "$system_files" | while read -r file target; do
        if [ -z "$file" ] || cmp -s "$source/$file" "$target"; then continue; fi
        mkdir -p "${target%/*}"
        cp "$source/$file" "$target.new"
        mv "$target.new" "$target"
    done
}

put_personal_unit() {
    echo "$owner" >"$personal"
    folder=$person_home/.config/systemd/user
    as_owner mkdir -p "$folder/default.target.wants"
    as_owner cp "$source/user/appliance.service" "$folder/appliance.service"
    # What `systemctl --user enable` does, for a person who is not logged in as well.
    as_owner ln -sf ../appliance.service "$folder/default.target.wants/appliance.service"
}

start() {
    # shellcheck disable=SC2086  # names
    [ -n "$is_personal" ] || systemctl --quiet --root=/ enable $units || return
    has_systemd || return 0
    manager daemon-reload || return
    [ -n "$is_personal" ] || refresh_devices || :
    # shellcheck disable=SC2086
    { manager reset-failed $units || :; } 2>/dev/null
    # It is up when it says that it is ready.
    # shellcheck disable=SC2086
    manager start $units && manager --quiet is-active appliance.service
}

# So that no new start of the computer is needed for the rules, and for drivers that the service must find.
refresh_devices() {
    [ -e /run/udev/control ] || return 0
    udevadm control --reload
    for subsystem in tty gpio spidev i2c-dev; do udevadm trigger --subsystem-match="$subsystem"; done
    systemctl restart systemd-modules-load.service
}

# The new version does not start: the one before it comes back, with the store as it was.
go_back() {
    say "It does not start. The last that it said:"
    journalctl "--${is_personal:+user-}unit=appliance.service" --lines=8 --output=cat >&2 || :
    before=none
    [ ! -e "$unfinished" ] || read -r before after <"$unfinished"
    [ "$before" != none ] || fail "everything is in its place, but the box does not start; then: systemctl start appliance"
    say "Going back to $before"
    stop || :
    done_with
    [ ! -e "$(copy_of "$before")" ] || store "$before" restore "$(copy_of "$before")" "$home/appliance.db"
    done_with
    point "$opt/current" "versions/$before"
    sync
    done_with
    put_files "$before"
    done_with
    start || fail "version $before does not start either; appliance doctor says more"
    rm "$unfinished"
    [ "$(linked previous)" = "$after" ] || rm -rf "$opt/versions/$after"
    fail "version $after did not start; $before runs again, with its data as it was"
}

# From here on the version before is the one for --rollback.
confirm() {
    [ -e "$unfinished" ] || return 0
    read -r before after <"$unfinished"
    [ "$before" = none ] || point "$opt/previous" "versions/$before"
    rm "$unfinished"
}

# If an earlier call was cut off while it changed over, the link says which version is in force.
settle() {
    [ -e "$unfinished" ] || return 0
    read -r before after <"$unfinished"
    if [ "$(linked current)" = "$after" ]; then
        say "An earlier call was cut off after changing over to $after; finishing that first"
        put_in_force
    else
        rm "$unfinished"
    fi
}

finish() {
    [ -n "$is_personal" ] || leave_mark
    [ -n "$is_personal" ] || join_group
    for folder in "$opt"/versions/*; do
        case ${folder##*/} in "$(linked current)" | "$(linked previous)") ;; *) rm -rf "$folder" ;; esac
    done
    for copy in "$home"/appliance.db.schema-of-*; do
        case $copy in "$(copy_of "$(linked previous)")"*) ;; *) rm -f "$copy" ;; esac
    done
    rm -rf "${home%/*}/.appliance-taken-over"
}

# A home is taken over once.
leave_mark() {
    from=$(cat "$home/taken-over-from" 2>/dev/null) || return 0
    if [ ! -d "$from" ] || [ -e "$from/$mark" ]; then return; fi
    text="The service took over what is in this folder on $(date +%F), into $home. It is used no more."
    # Not as root, in a folder of somebody else.
    # shellcheck disable=SC2016  # the inner shell expands them
    as "$(stat -c %U "$from")" sh -c 'echo "$1" >"$2"' sh "$text" "$from/$mark"
}

# shellcheck disable=SC2034  # read at the end of an installation
join_group() {
    if [ "$person" = root ] || id -nG "$person" | grep -qw "$owner"; then return; fi
    usermod --append --groups "$owner" "$person"
    joined=yes
}

# ----------------------------------------------------------------------------------------------------------- away again

remove_service() {
    if [ -n "$is_personal" ]; then
        as_owner rm -f "$person_home/.config/systemd/user/appliance.service" \
            "$person_home/.config/systemd/user/default.target.wants/appliance.service"
    else
        # shellcheck disable=SC2086
        systemctl --quiet --root=/ disable $units 2>/dev/null || :
        echo "$system_files" | while read -r file target; do [ -z "$file" ] || rm -f "$target"; done
    fi
    rm -f "$completion"
    manager daemon-reload || :
    done_with
    rm -rf /run/appliance /var/cache/appliance "$home"/appliance.db.schema-of-*
    rm -f "$etc/home"
}

remove_program() {
    [ "$(readlink "$command_line")" != "$opt/current/bin/appliance" ] || rm "$command_line"
    ! id appliance-worker >/dev/null 2>&1 || userdel appliance-worker
    [ ! -e "$opt/own-groups" ] || while read -r group; do
        ! getent group "$group" >/dev/null || groupdel "$group"
    done <"$opt/own-groups"
    # This script may lie in it.
    rm -rf "$opt"
}

remove_data() {
    rm -rf "${home:?}" "${etc:?}"
    [ -n "$is_personal" ] || ! id "$owner" >/dev/null 2>&1 || userdel "$owner"
}
