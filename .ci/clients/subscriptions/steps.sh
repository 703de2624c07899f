# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Subscriptions with npm clients: the WebSockets of query/graphql with graphql-ws, over a schema with a counter
# (connecting, operations, errors, expiry, restarts of the server); then the shop's GraphQL endpoint with graphql-ws and
# graphql-sse, which receive every change once over its restarts.

build() { go vet . && go build -buildvcs=false -o "$ready/counter" .; }

sockets() { timeout 1000 node sockets.mjs "$ready/counter"; }

shop() { mkdir "$tmp/data" && timeout 1000 node shop.mjs "$SHOP" "$tmp/data"; }

prepare() {
	step 'build the counter' build
}

check() {
	step 'graphql-ws' sockets
	grep '^ok' "$log"
	step 'without a server it fails' refused 'the server ended with 1' timeout 500 node sockets.mjs /bin/false
	step 'the shop with graphql-ws and graphql-sse' shop
	grep -E '^(ok|    [0-9]{4}  )' "$log"
}
