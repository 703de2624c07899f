# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Relay: relay-compiler compiles an application's documents for the SDL of two servers, and relay-runtime uses them. One server
# has global ids. The other does not: the compiler must refuse @refetchable, and the store must mix items up.

build() { go vet . && go build -buildvcs=false -o "$ready/server" .; }

# serve NAME FLAG... starts a server, writes its URL to NAME.url, and copies the application and the SDL to NAME.
serve() {
	local name=$1
	shift
	"$ready/server" "$@" >"$tmp/$name.out" 2>&1 &
	pids+=("$!")
	wait_for "$tmp/$name.out" '\(http[^ ]*\)' "$!" >"$tmp/$name.url" || return 1
	cp -r app "$tmp/$name" && ln -s "$modules" "$tmp/$name/node_modules" && mkdir "$tmp/$name/__generated__" &&
		curl -fsS --max-time 60 -o "$tmp/$name/schema.graphql" "$(cat "$tmp/$name.url")/schema.graphql"
}

servers() { serve global -global && serve plain; }

compile() { (cd "$tmp/$1" && bin relay-compiler); }

use() { (cd "$tmp/$1" && timeout 120 node use.js "$1" "$(cat "$tmp/$1.url")"); }

# plain compiles without the fragment that is refused.
plain() { rm "$tmp/plain/refetch.js" && compile plain && use plain; }

prepare() {
	step 'build the server' build
}

check() {
	step 'two servers' servers
	step 'relay-compiler' compile global
	step 'relay-runtime' use global
	grep '^ok' "$log"
	step 'without global ids @refetchable is refused' refused 'refetch_order' compile plain
	step 'without global ids relay-runtime mixes items up' plain
	grep '^ok' "$log"
}
