#!/bin/bash
# Runs the conformance cases of Autobahn|Testsuite against the relay's WebSocket codec, in the client's role.
#
#   autobahn.sh            builds the echo client, runs cases 1 to 7, 9 and 10, and writes autobahn-result.md
#   autobahn.sh CASE...    runs these cases only, such as 5.* or 7.7.2, and prints the result
#
# The suite's server listens on 127.0.0.1, port 9301 or PORT, and is ended when the script ends. Everything else,
# reports included, is put into run/autobahn beside this script. The exit status is
#   0   no case failed and all were run
#   1   a case failed or was not run
#   2   something went wrong before
#   3   there is no Python 2.7, which the suite needs and Debian 12 does not have
#
# Python 2.7 is looked for as $PYTHON27, as python2.7 on PATH, and in ~/.pyenv/versions/2.7.18.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
state=$here/run/autobahn
venv=$state/venv
port=${PORT:-9301}
url=ws://127.0.0.1:$port
agent=chirp-relay
# One group of cases may take this long; 9.* sends messages of up to 16 MiB.
group_limit=600
# The process of the suite's server, and the program under test.
server=
client=

fail() {
    echo "autobahn.sh: $1" >&2
    exit "${2:-2}"
}

find_python27() {
    local candidate
    for candidate in ${PYTHON27:+"$PYTHON27"} python2.7 "$HOME/.pyenv/versions/2.7.18/bin/python2.7"; do
        "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (2, 7))' 2>/dev/null || continue
        "$candidate" -c 'import sys; print(sys.executable)'
        return
    done
    fail "no Python 2.7 (tried \$PYTHON27, python2.7 on PATH, ~/.pyenv/versions/2.7.18); \`pyenv install 2.7.18\` makes one" 3
}

install_suite() {
    local python27
    [[ ! -e $venv/complete ]] || return 0
    python27=$(find_python27)
    echo "installing the test suite" >&2
    # 20.21 is the last virtualenv that makes environments for Python 2.7.
    python3 -m venv --clear "$state/virtualenv"
    "$state/virtualenv/bin/pip" install --quiet --disable-pip-version-check 'virtualenv<20.22'
    "$state/virtualenv/bin/virtualenv" --quiet --clear --python "$python27" "$venv"
    "$venv/bin/pip" install --quiet --no-python-version-warning --requirement "$here/autobahn-requirements.txt"
    touch "$venv/complete"
}

# Writes the suite's specification for the cases that were asked for, and the list of their numbers and names.
select_cases() {
    local patterns
    patterns=$(printf '"%s", ' "$@")
    rm -rf "$state/reports"
    mkdir -p "$state/reports"
    cat >"$state/spec.json" <<JSON
{"url": "$url", "outdir": "$state/reports", "cases": [${patterns%, }], "exclude-cases": [], "exclude-agent-cases": {}}
JSON
    "$venv/bin/python" "$here/autobahn-server.py" list "$state/spec.json" >"$state/cases"
    [[ -s $state/cases ]] || fail "no case is called that"
}

is_listening() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

start_server() {
    local tries=0
    ! is_listening || fail "port $port is in use; set PORT"
    "$venv/bin/python" "$here/autobahn-server.py" serve "$state/spec.json" >"$state/server.log" 2>&1 </dev/null &
    server=$!
    trap 'kill "$server"; wait "$server" || true' EXIT
    until is_listening; do
        if ! kill -0 "$server" 2>/dev/null || ((++tries > 300)); then
            fail "the server did not start: $(tail -n 3 "$state/server.log")"
        fi
        sleep 0.1
    done
}

# Prints the first and the last number of every group: a crash then costs one group only.
groups() {
    awk '{
        split($2, name, ".")
        if (name[1] != group) {
            if (group) print first, last
            group = name[1]
            first = $1
        }
        last = $1
    } END { print first, last }' "$state/cases"
}

run_client() { # FIRST LAST
    timeout --kill-after=5 "$group_limit" "$client" "$url" "$agent" "$1" "$2" ||
        echo "cases $1 to $2: the client ended with status $?" >&2
}

main() {
    local first last
    local -a cases=("$@")
    [[ $# -gt 0 ]] || cases=('1.*' '2.*' '3.*' '4.*' '5.*' '6.*' '7.*' '9.*' '10.*')
    mkdir -p "$state"
    install_suite
    select_cases "${cases[@]}"
    nice swift build --package-path "$project" --configuration release --product websocket-echo >&2
    client=$(swift build --package-path "$project" --configuration release --show-bin-path)/websocket-echo
    start_server
    while read -r first last <&3; do
        run_client "$first" "$last"
    done 3< <(groups)
    # An empty range: the server only writes its reports.
    run_client 1 0
    if [[ $# -gt 0 ]]; then
        python3 "$here/autobahn-summary.py" "$state" "$agent"
    else
        python3 "$here/autobahn-summary.py" "$state" "$agent" --markdown "$here/autobahn-result.md"
    fi
}

main "$@"
