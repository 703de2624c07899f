# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# Clients of the shop that genqlient, for Go, and GraphQL Code Generator, for TypeScript, make from the SDL at
# /graphql/schema.graphql. They are vetted, compiled and used, in contracts 2.0.0 and 1.0.0.
here=$PWD

# build_genqlient builds it in this module, because genqlient's own go.mod names a version of golang.org/x/tools that Go
# 1.26 does not compile.
build_genqlient() { retry go build -o "$ready/genqlient" github.com/Khan/genqlient; }

start() {
	start_shop || return 1
	export SHOP_URL=$url
}

# fetch gets the SDL of both contracts.
fetch() {
	mkdir -p "$tmp/generated" && cp -r v1 v2 "$tmp/generated" &&
		curl -fsS --max-time 120 -o "$tmp/generated/v2/schema.graphql" "$SHOP_URL/graphql/schema.graphql" &&
		curl -fsS --max-time 120 -o "$tmp/generated/v1/schema.graphql" "$SHOP_URL/v1.0/graphql/schema.graphql" || return 1
	! cmp "$tmp/generated/v1/schema.graphql" "$tmp/generated/v2/schema.graphql"
}

genqlient() { (cd "$1" && timeout 600 "$ready/genqlient" genqlient.yaml); }

# go_clients generates both clients below $tmp. The overlay shows them to go beside their tests.
go_clients() {
	local v
	for v in v1 v2; do genqlient "$tmp/generated/$v" || return 1; done
	printf '{"Replace":{"%s":"%s","%s":"%s"}}' "$here/v1/client.gen.go" "$tmp/generated/v1/client.gen.go" \
		"$here/v2/client.gen.go" "$tmp/generated/v2/client.gen.go" >"$tmp/overlay"
	go vet -tags generated -overlay "$tmp/overlay" ./... &&
		timeout 900 go test -tags generated -overlay "$tmp/overlay" -vet=off -count=1 -v ./v1 ./v2
}

# wrong_go asks for a field that orders of 1.0.0 do not have.
wrong_go() {
	mkdir "$tmp/wrong" && cp v1/genqlient.yaml "$tmp/generated/v1/schema.graphql" "$tmp/wrong" || return 1
	echo '{ order(id: 1) { lines { qty } } }' | sed 's/^/query Lines /' >"$tmp/wrong/operations.graphql"
	refused lines genqlient "$tmp/wrong"
}

typescript() {
	local v
	cp -r typescript "$tmp/ts" && cp "$clients/package.json" "$tmp/ts" && ln -s "$modules" "$tmp/ts/node_modules" || return 1
	for v in v1 v2; do
		timeout 600 node typescript/generate.mjs "$tmp/generated/$v/schema.graphql" "typescript/$v.graphql" "$tmp/ts/$v" || return 1
	done
}

# generate.mjs resolves its modules from its own folder, and tsc from the copy, which has a link to them.
compile() { timeout 600 "$modules/.bin/tsc" --project "$1/tsconfig.json"; }

wrong_typescript() {
	cp -r "$tmp/ts" "$tmp/loose" && sed -i '/@ts-expect-error/d' "$tmp/loose/use.ts" && refused use.ts compile "$tmp/loose"
}

# without_shop runs both clients without a server.
without_shop() {
	refused 'SHOP_URL is not set' env -u SHOP_URL go test -tags generated -overlay "$tmp/overlay" -vet=off -count=1 ./v1 &&
		refused 'fetch failed' timeout 60 node "$tmp/ts/out/use.js" http://127.0.0.1:1
}

use() { timeout 600 node "$tmp/ts/out/use.js" "$SHOP_URL"; }

prepare() {
	step 'genqlient' build_genqlient
}

check() {
	step 'start the shop' start
	step 'fetch the SDL of 1.0.0 and 2.0.0' fetch
	step 'genqlient: clients in Go that create, read, list, patch, delete and call commands' go_clients
	step 'genqlient objects to what is not in the SDL' wrong_go
	step 'GraphQL Code Generator: typescript, typescript-operations, typed-document-node' typescript
	step 'tsc, strict' compile "$tmp/ts"
	step 'tsc objects to what the types refuse' wrong_typescript
	step 'the clients in TypeScript do the same' use
	step 'without a shop both fail' without_shop
}
