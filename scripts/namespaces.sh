# Sourced by scripts/cluster and scripts/faults: installs packages, makes "machines" and removes them again. scripts/migration-locks uses
# only the first part.
#
# A machine is a network namespace with one interface and an address from a range for documentation. The bridge between them is in a
# namespace too, so that the network of this machine is not touched.
# shellcheck shell=bash

export PATH=$PATH:/usr/sbin:/sbin
name=$(basename "$0")
target=${CARGO_TARGET_DIR:-$PWD/target}
results=$target/$name
prefix=$name$$
work=
driver=
machines=()

die() {
    echo "$name: $*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

have_postgres() {
    compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null
}

# Installs Debian packages. They neither create a database nor start services.
install_packages() {
    local policy=/usr/sbin/policy-rc.d status=0
    (($# > 0)) || return 0
    echo "$name: installing $*"
    have apt-get || die "apt-get is missing; install by hand: $*"
    if [[ ! -e /etc/postgresql-common/createcluster.conf ]]; then
        mkdir -p /etc/postgresql-common
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    fi
    if [[ -e $policy ]]; then
        policy=
    else
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    {
        apt-get update -qq &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
                -o Dpkg::Options::=--force-confold "$@"
    } || status=$?
    [[ -z $policy ]] || rm -f "$policy"
    ((status == 0)) || die "the packages could not be installed"
}

# Finds the program under test: the one that is given, or a release build.
find_program() {
    garson=$1
    if [[ -z $garson ]]; then
        garson=$target/release/garson
        if [[ ! -x $garson ]]; then
            echo "$name: building $garson"
            cargo build --release --locked --package garson
        fi
    fi
    [[ -x $garson ]] || die "$garson is not a program"
    garson=$(realpath "$garson")
}

# All processes of the test are in these namespaces, and nothing else is. Called by the trap, as below.
# shellcheck disable=SC2317
processes() {
    local machine
    for machine in "${machines[@]}"; do
        ip netns pids "$prefix-$machine" 2>/dev/null || true
    done
}

# Called by the trap, which shellcheck does not detect.
# shellcheck disable=SC2317
cleanup() {
    local status=$? tries pids machine folder
    trap - EXIT
    # A second Ctrl-C must not leave anything behind.
    trap '' INT TERM HUP
    if [[ -n $driver ]]; then
        kill -TERM "$driver" 2>/dev/null || true
        wait "$driver" 2>/dev/null || true
    fi
    # Those that are frozen end by KILL only. Some might be started while others are killed, so this is repeated.
    for ((tries = 0; tries < 100; tries++)); do
        pids=$(processes)
        [[ -n $pids ]] || break
        # shellcheck disable=SC2086
        kill -KILL $pids 2>/dev/null || true
        sleep 0.1
    done
    for machine in "${machines[@]}" network; do
        ip netns delete "$prefix-$machine" 2>/dev/null || true
    done
    for folder in "$work"/*; do
        if mountpoint --quiet "$folder"; then
            umount "$folder" || status=1
        fi
    done
    if ((status != 0)) && [[ -d $work/logs ]]; then
        rm -rf "$results/logs"
        mkdir -p "$results"
        cp -r "$work/logs" "$results/logs"
        echo "$name: failed; the logs are in $results/logs" >&2
    fi
    rm -rf --one-file-system "$work"
    exit "$status"
}

# Makes the folder of the test, and a machine of each name. From here on, everything is removed at the end.
make_machines() {
    local machine number=10 variable
    # The caller's settings must not affect the test.
    for variable in "${!GARSON_@}" "${!PATRONI_@}" "${!ETCD_@}" "${!PG@}"; do
        unset "$variable"
    done
    work=$(mktemp -d "/tmp/garson-$name.XXXXXX")
    machines=("$@")
    trap cleanup EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    chmod 711 "$work"
    mkdir "$work/logs"
    ip netns add "$prefix-network"
    ip -n "$prefix-network" link add bridge type bridge
    ip -n "$prefix-network" link set bridge up
    for machine in "${machines[@]}"; do
        number=$((number + 1))
        ip netns add "$prefix-$machine"
        ip -n "$prefix-network" link add "$machine" type veth peer name eth0 netns "$prefix-$machine"
        ip -n "$prefix-network" link set "$machine" master bridge up
        ip -n "$prefix-$machine" link set lo up
        ip -n "$prefix-$machine" address add "198.51.100.$number/24" dev eth0
        ip -n "$prefix-$machine" link set eth0 up
        echo "$machine 198.51.100.$number" >>"$work/machines"
    done
}

# Runs a Python program in the namespace of the client, from where it reaches all others. In the background, because bash runs a trap
# at once only during `wait`.
run_in_client() {
    local status=0
    nsenter --net="/run/netns/$prefix-client" python3 "$1" --work "$work" --prefix "$prefix" --garson "$garson" \
        --results "$results" "${@:2}" </dev/null &
    driver=$!
    wait "$driver" || status=$?
    driver=
    return "$status"
}
