# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Searches, groups and pages of related items with the clients that users have: Apollo Client, urql and Relay on the GraphQL
# endpoint of the shop, openapi-fetch with the types of openapi-typescript on its REST API.

# serve starts a shop with the places, and sets url.
serve() { mkdir -p "$tmp/data" && start_shop -db "$tmp/data/shop.db"; }

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

prepare() { :; }

check() {
	step 'the shop' serve
	step 'Apollo Client and urql' graphql
	step 'Relay' relay
	step 'openapi-fetch' fetch_client
	grep '^ok' "$log"
}
