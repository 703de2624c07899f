# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# The shop's OpenAPI documents under the tools that people use on such documents: linters, generators of clients, a
# validator on random requests, a validating proxy, and oasdiff, which finds changes that break clients. These check the
# full profile. The default profile, which is for generated clients, has clients that are compiled and run, in TypeScript
# and in Go. With -update it writes the golden documents: only for changes that break no client.
here=$PWD
contracts=(1.0.0 1.1.0 2.0.0)
REQUESTS=${REQUESTS:-5000} # of each walk
SEED=${SEED:-1}
OAPI_CODEGEN=github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
OGEN=github.com/ogen-go/ogen/cmd/ogen@v1.24.0
OASDIFF=github.com/oasdiff/oasdiff@v1.33.0

install_tools() {
	export GOBIN=$ready/bin
	retry go install "$OAPI_CODEGEN" && retry go install "$OGEN" && retry go install "$OASDIFF" && go build -buildvcs=false -o "$ready/bin/walk" ./cmd/walk
}

fetch() {
	local c
	mkdir -p "$ready/docs" "$ready/variants"
	for c in "${contracts[@]}"; do
		curl -fsS --max-time 120 -o "$ready/docs/$c.json" "$url/openapi/$c.json?profile=full" || return 1
		variants "$c" || return 1
	done
	mkdir -p "$ready/neutral"
	for c in "${contracts[@]}"; do neutral "$c" >"$ready/neutral/$c.json"; done
	# A document that each linter has to reject: an operation without responses.
	sed 's/"responses":/"x-responses":/' "$ready/docs/2.0.0.json" >"$ready/docs/broken.json"
}

# variants CONTRACT fetches both profiles in each version, selected by the URL and by the media type, and in YAML.
variants() {
	local profile version at to
	for profile in default full; do
		at="$url/openapi/$1.json?profile=$profile" to=$ready/variants/$1-$profile
		for version in 3.0 3.1 3.2; do
			curl -fsS --max-time 120 -o "$to-$version.json" "$at&openapi=$version" &&
				curl -fsS --max-time 120 -o "$tmp/same" -H "Accept: application/openapi+json;version=$version" "$at" &&
				cmp "$to-$version.json" "$tmp/same" || return 1
		done
		curl -fsS --max-time 120 -o "$to.yaml" -H 'Accept: application/openapi+yaml' "$at" || return 1
	done
}

# valid checks all variants. node resolves the modules from the folder of the script.
valid() { timeout 900 node fetch/variants.mjs "$ready/variants"; }

# agree compares the decoder with ajv, for each kind of member and random tags.
agree() {
	at "$root" timeout 1200 go test -count=1 ./resource/openapi -run TestDecoderAgrees -args -pairs "$tmp/pairs.ndjson" &&
		timeout 900 node agree.mjs "$tmp/pairs.ndjson"
}

# disagree reverses a decision of the decoder.
disagree() {
	sed '2s/"valid":\[true/"valid":[false/' "$tmp/pairs.ndjson" >"$tmp/reversed.ndjson" &&
		refused 'rejected by the decoder only' node agree.mjs "$tmp/reversed.ndjson"
}

spectral() { bin spectral lint --ruleset spectral.yaml --fail-severity error "$@"; }
redocly() { REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true bin redocly lint --extends recommended "$@"; }

# typescript compiles a program that uses the types of all contracts. It also marks the lines that must not compile.
typescript() {
	local c
	mkdir -p "$tmp/ts"
	cp typescript/*.ts typescript/tsconfig.json "$tmp/ts" || return 1
	for c in "${contracts[@]}"; do
		bin openapi-typescript "$ready/docs/$c.json" --default-non-nullable=false --output "$tmp/ts/$c.ts" || return 1
	done
	bin tsc --project "$tmp/ts/tsconfig.json"
}

# fetch_client compiles a client of the default document, with openapi-typescript as it is without options, and runs it at
# the first server of the document.
fetch_client() {
	local server
	mkdir -p "$tmp/fetch" && cp fetch/use.ts fetch/tsconfig.json "$clients/package.json" "$tmp/fetch" &&
		ln -sfn "$modules" "$tmp/fetch/node_modules" &&
		bin openapi-typescript "$ready/variants/2.0.0-default-3.1.json" --output "$tmp/fetch/2.0.0.ts" &&
		bin tsc --project "$tmp/fetch/tsconfig.json" || return 1
	server=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).servers[0].url' "$ready/variants/2.0.0-default-3.1.json")
	timeout 600 node "$tmp/fetch/out/use.js" "$url$server"
}

# wrong_types removes the marks. Then tsc rejects each line that must not compile.
wrong_types() {
	cp -r "$tmp/fetch" "$tmp/loose" && sed -i '/@ts-expect-error/d' "$tmp/loose/use.ts" &&
		refused 'use.ts' bin tsc --project "$tmp/loose/tsconfig.json" && [ "$(grep -c 'error TS' "$tmp/refused")" = 4 ]
}

# generated COMMAND... runs go vet and the tests of generated clients. The clients are below $tmp/generated, in folders like
# those of their tests, and the overlay shows them to go beside the tests.
generated() {
	(cd "$tmp/generated" && find . -name '*.go' -printf '%P\n') | awk -v here="$here/client" -v there="$tmp/generated" \
		'BEGIN { printf "{\"Replace\":{" } { printf "%s\"%s/%s\":\"%s/%s\"", (NR > 1 ? "," : ""), here, $0, there, $0 } END { print "}}" }' >"$tmp/overlay" &&
		go vet -tags generated -overlay "$tmp/overlay" "$@" &&
		timeout 900 go test -tags generated -overlay "$tmp/overlay" -vet=off -count=1 "$@"
}

# oapi DOCUMENT FOLDER PACKAGE generates a client with oapi-codegen.
oapi() { mkdir -p "$tmp/generated/$2" && "$ready/bin/oapi-codegen" -generate types,client -package "$3" -o "$tmp/generated/$2/client.gen.go" "$1"; }

# ogen DOCUMENT FOLDER generates a client with ogen, which checks each response against the document.
ogen() {
	mkdir -p "$tmp/generated/$2" &&
		"$ready/bin/ogen" --loglevel error --config "client/$2/ogen.yml" --target "$tmp/generated/$2" --package ogen "$1"
}

# simple_clients VERSION generates clients of the default document in a version of OpenAPI, vets them and runs their tests.
simple_clients() {
	local document=$ready/variants/2.0.0-default-$1.json
	rm -rf "$tmp/generated"
	oapi "$document" simple/oapi oapi && ogen "$document" simple/ogen && generated ./client/simple/...
}

# go_clients generates a client of each contract, and one of orders that checks each response, vets them and runs their tests.
go_clients() {
	local c packages=(./client/ogen)
	rm -rf "$tmp/generated"
	for c in "${contracts[@]}"; do
		oapi "$ready/docs/$c.json" "v${c//./}" "v${c//./}" || return 1
		packages+=("./client/v${c//./}")
	done
	ogen "$ready/docs/2.0.0.json" ogen && generated "${packages[@]}"
}

walk() { timeout 2400 "$ready/bin/walk" -url "$url" -seed "$SEED" "$@"; }

# prism CONTRACT UPSTREAM starts a proxy that validates requests and responses with the document, and sets proxy to its URL.
prism() {
	local out=$tmp/prism-$1.log
	# Without a function, so that pids has the proxy and not a subshell around it.
	PATH=$modules/.bin:$PATH timeout 1000 prism proxy "$ready/docs/$1.json" "$url$2" -h 127.0.0.1 -p 0 >"$out" 2>&1 &
	pids+=("$!")
	proxy=$(wait_for "$out" 'listening on \(http[^ ]*\)' "$!")
}

proxied() {
	prism "$1" "$2" && proxies[$1]=$proxy && walk -contract "$1" -proxy "$proxy" -requests 500
}

# notes PATTERN CURL-FLAGS... sends a request that the proxy has to reject.
notes() {
	curl -sS --max-time 120 -D - -o /dev/null "${@:2}" | tee "$tmp/headers"
	grep -qi "^sl-violations:.*$1" "$tmp/headers"
}

two_lines='{"lines":[{"itemId":1,"qty":2},{"itemId":2,"qty":1}]}'

# strangers sends what Prism has to reject: a body of 2.0.0 under 1.0.0, and a response that differs from its document.
strangers() {
	notes '"request","body"' -H 'Content-Type: application/json' -d "$two_lines" "${proxies[1.0.0]}/orders" || return 1
	sed -E 's/"format": ?"date-time"/"pattern":"^noon$"/g' "$ready/docs/2.0.0.json" >"$ready/docs/noon.json"
	prism noon /v2 && notes '"response","body"' -H 'Content-Type: application/json' -d "$two_lines" "$proxy/orders"
}

breaking() { timeout 600 "$ready/bin/oasdiff" breaking --fail-on ERR "$1" "$2"; }

# neutral prints a document without the name of the contract, which differs on purpose.
neutral() {
	sed -E -e 's/vnd\.shop\.[0-9]+\.[0-9]+\.[0-9]+\./vnd.shop./g' -e 's/"\^v\?\([^"]*\)\$"/"^v?[0-9.]+$"/g' "$ready/docs/$1.json"
}

# changes OLD NEW prints the changes for clients, each once. It omits filters and sorts by a new member, and that a contract
# which is not deprecated has no dates.
changes() {
	timeout 600 "$ready/bin/oasdiff" changelog --color never --format singleline "$ready/neutral/$1.json" \
		"$ready/neutral/$2.json" >"$tmp/changes" || return 1
	sed -E -e 's/ at [^ ]*,//' -e 's/ \(media type: [^)]*\)//' -e 's/ for the response with the status `[0-9]+`//' \
		-e '/optional-response-header-removed|endpoint-reactivated|parameter `[A-Za-z]+\.[A-Za-z]+`|parameter `sort`/d' \
		-e '/^$/d' "$tmp/changes" | sort -u
}

update() {
	local c
	for c in "${contracts[@]}"; do
		node -e 'const fs = require("fs"), [, from, to] = process.argv
			fs.writeFileSync(to, JSON.stringify(JSON.parse(fs.readFileSync(from)), null, 1) + "\n")' \
			"$ready/docs/$c.json" "golden/$c.json" || return 1
	done
}

prepare() {
	local c documents=() others=()
	step 'oapi-codegen, oasdiff, walk' install_tools
	step 'start the shop' start_shop
	step 'fetch the documents' fetch
	if [ "$option" = -update ]; then
		step 'write golden/' update
		exit 0
	fi
	for c in "${contracts[@]}"; do documents+=("$ready/docs/$c.json"); done
	for c in 3.0 3.1 3.2; do documents+=("$ready/variants/2.0.0-default-$c.json"); done
	for c in 3.0 3.2; do others+=("$ready/variants/2.0.0-full-$c.json"); done
	step 'spectral: each contract, and the default profile of 2.0.0 in each version' spectral "${documents[@]}"
	step 'redocly: these, and the full profile in the other versions' redocly "${documents[@]}" "${others[@]}"
	step 'openapi-schema-validator: all variants, JSON and YAML' valid
	step 'ajv: documents of random types agree with the decoder' agree
	step 'ajv: a decision that is reversed' disagree
	step 'spectral rejects a document without responses' refused . spectral "$ready/docs/broken.json"
	step 'redocly rejects a document without responses' refused . redocly "$ready/docs/broken.json"
	step 'openapi-typescript and tsc' typescript
	step 'default profile: openapi-typescript, tsc with strict, openapi-fetch' fetch_client
	step 'default profile: tsc rejects each line that must not compile' wrong_types
	for c in 3.0 3.1; do
		step "default profile, $c: oapi-codegen and ogen" simple_clients "$c"
	done
	step 'oapi-codegen and ogen: clients that create, read, patch and delete' go_clients
	for c in "${contracts[@]}"; do
		step "$c: oasdiff finds no break since golden/$c.json" breaking "golden/$c.json" "$ready/docs/$c.json"
	done
	step 'oasdiff: 1.1.0 breaks no client of 1.0.0' breaking "$ready/neutral/1.0.0.json" "$ready/neutral/1.1.0.json"
	step 'oasdiff: 2.0.0 would break clients of 1.1.0' refused . breaking "$ready/neutral/1.1.0.json" "$ready/neutral/2.0.0.json"
}

# check sends random requests to a new shop.
check() {
	local c old new pair
	declare -A proxies
	step 'start the shop' start_shop
	for c in "${contracts[@]}"; do
		step "$c: kin-openapi on $REQUESTS random requests" walk -contract "$c" -requests "$REQUESTS"
		cat "$log"
	done
	step '1.0.0: Prism as a proxy' proxied 1.0.0 /v1.0
	step '1.1.0: Prism as a proxy' proxied 1.1.0 /v1
	step '2.0.0: Prism as a proxy' proxied 2.0.0 /v2
	step 'Prism rejects a body of 2.0.0 under 1.0.0, and a response that differs from its document' strangers
	for pair in '1.0.0 1.1.0' '1.1.0 2.0.0'; do
		read -r old new <<<"$pair"
		printf '\n# Changes from %s to %s\n' "$old" "$new"
		changes "$old" "$new" || return 1
	done
}
