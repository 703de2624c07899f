# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Searches, groups and pages of related items with the clients that users have: Apollo Client, urql and Relay on the GraphQL
# endpoint of the shop, openapi-fetch with the types of openapi-typescript on its REST API.

# serve starts a shop with the places, and sets url.
serve() {
	local i
	mkdir -p "$tmp/data" && "$SHOP" -addr 127.0.0.1:0 -db "$tmp/data/shop.db" -now 2026-12-01T00:00:00Z >"$tmp/shop.out" 2>&1 &
	at_exit+=("kill $! 2>/dev/null || true")
	for ((i = 0; i < 300; i++)); do
		url=$(sed -n 's|.*listening on \(http://[0-9.:]*\).*|\1|p' "$tmp/shop.out")
		[ -z "$url" ] || return 0
		sleep 0.1
	done
	cat "$tmp/shop.out"
	return 1
}

graphql() { timeout 300 node graphql.mjs "$url/graphql"; }

relay() {
	cp -r relay "$tmp/relay" && ln -s "$modules" "$tmp/relay/node_modules" && mkdir "$tmp/relay/__generated__" &&
		curl -fsS --max-time 60 -o "$tmp/relay/schema.graphql" "$url/graphql/schema.graphql" &&
		(cd "$tmp/relay" && bin relay-compiler && timeout 120 node use.js "$url/graphql")
}

fetch_client() {
	mkdir -p "$tmp/fetch" && cp use.ts "$clients/openapi/fetch/tsconfig.json" "$clients/package.json" "$tmp/fetch" &&
		ln -s "$modules" "$tmp/fetch/node_modules" &&
		curl -fsS --max-time 120 -o "$tmp/2.0.0.json" "$url/openapi/2.0.0.json?profile=full&openapi=3.1" &&
		bin openapi-typescript "$tmp/2.0.0.json" --output "$tmp/fetch/2.0.0.ts" &&
		bin tsc --project "$tmp/fetch/tsconfig.json" && timeout 300 node "$tmp/fetch/out/use.js" "$url/v2"
}

step 'the shop' serve
step 'Apollo Client and urql' graphql
step 'Relay' relay
step 'openapi-fetch' fetch_client
grep '^ok' "$log"
