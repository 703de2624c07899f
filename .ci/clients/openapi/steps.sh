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
at_exit+=("rm -f '$here'/client/{*,simple/*}/client.gen.go '$here'/client/{ogen,simple/ogen}/oas_*_gen.go")

install_tools() {
	export GOBIN=$tmp/bin
	retry go install "$OAPI_CODEGEN" && retry go install "$OGEN" && retry go install "$OASDIFF" && go build -o "$tmp/bin/walk" ./cmd/walk
}

fetch() {
	local c
	mkdir -p "$tmp/docs" "$tmp/variants"
	for c in "${contracts[@]}"; do
		curl -fsS --max-time 120 -o "$tmp/docs/$c.json" "$url/openapi/$c.json?profile=full" || return 1
		variants "$c" || return 1
	done
	mkdir -p "$tmp/neutral"
	for c in "${contracts[@]}"; do neutral "$c" >"$tmp/neutral/$c.json"; done
	# A document that everybody should object to: an operation without responses.
	sed 's/"responses":/"x-responses":/' "$tmp/docs/2.0.0.json" >"$tmp/docs/broken.json"
}

# variants CONTRACT fetches both profiles in each version, selected by the URL and by the media type, and in YAML.
variants() {
	local profile version at to
	for profile in default full; do
		at="$url/openapi/$1.json?profile=$profile" to=$tmp/variants/$1-$profile
		for version in 3.0 3.1 3.2; do
			curl -fsS --max-time 120 -o "$to-$version.json" "$at&openapi=$version" &&
				curl -fsS --max-time 120 -o "$tmp/same" -H "Accept: application/openapi+json;version=$version" "$at" &&
				cmp "$to-$version.json" "$tmp/same" || return 1
		done
		curl -fsS --max-time 120 -o "$to.yaml" -H 'Accept: application/openapi+yaml' "$at" || return 1
	done
}

# valid checks all variants. node resolves the modules from where the script is.
valid() { timeout 900 node fetch/variants.mjs "$tmp/variants"; }

# lint CONTRACT-PROFILE-VERSION lints a document of generated clients.
lint() { spectral "$tmp/variants/$1.json" && redocly "$tmp/variants/$1.json"; }

spectral() { bin spectral lint --ruleset spectral.yaml --fail-severity error "$1"; }
redocly() { REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true bin redocly lint --extends recommended "$1"; }

# typescript has the types of all contracts used as use-*.ts does, which says what must not compile, too.
typescript() {
	local c
	mkdir -p "$tmp/ts"
	cp typescript/*.ts typescript/tsconfig.json "$tmp/ts" || return 1
	for c in "${contracts[@]}"; do
		bin openapi-typescript "$tmp/docs/$c.json" --default-non-nullable=false --output "$tmp/ts/$c.ts" || return 1
	done
	bin tsc --project "$tmp/ts/tsconfig.json"
}

# fetch_client compiles a client of the default document, with openapi-typescript as it is without options, and runs it at
# the first server of the document.
fetch_client() {
	local server
	mkdir -p "$tmp/fetch" && cp fetch/use.ts fetch/tsconfig.json "$clients/package.json" "$tmp/fetch" &&
		ln -sfn "$modules" "$tmp/fetch/node_modules" &&
		bin openapi-typescript "$tmp/variants/2.0.0-default-3.1.json" --output "$tmp/fetch/2.0.0.ts" &&
		bin tsc --project "$tmp/fetch/tsconfig.json" || return 1
	server=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).servers[0].url' "$tmp/variants/2.0.0-default-3.1.json")
	timeout 600 node "$tmp/fetch/out/use.js" "$url$server"
}

# wrong_types: without the marks, tsc objects to each line that must not compile.
wrong_types() {
	cp -r "$tmp/fetch" "$tmp/loose" && sed -i '/@ts-expect-error/d' "$tmp/loose/use.ts" &&
		refused 'use.ts' bin tsc --project "$tmp/loose/tsconfig.json" && [ "$(grep -c 'error TS' "$tmp/refused")" = 4 ]
}

# simple_clients VERSION generates clients of the default document in a version of OpenAPI, vets them and runs their tests.
simple_clients() {
	local document=$tmp/variants/2.0.0-default-$1.json
	"$tmp/bin/oapi-codegen" -generate types,client -package oapi -o client/simple/oapi/client.gen.go "$document" &&
		"$tmp/bin/ogen" --loglevel error --config client/simple/ogen/ogen.yml --target client/simple/ogen --package ogen "$document" &&
		go vet -tags generated ./client/simple/... &&
		timeout 900 go test -tags generated -count=1 ./client/simple/...
}

package() { echo "v${1//./}"; }

# go_clients generates a client of each contract, vets it and runs its test.
go_clients() {
	local c name
	for c in "${contracts[@]}"; do
		name=$(package "$c")
		"$tmp/bin/oapi-codegen" -generate types,client -package "$name" -o "client/$name/client.gen.go" \
			"$tmp/docs/$c.json" || return 1
	done
	go vet -tags generated ./client/v... && timeout 900 go test -tags generated -count=1 ./client/v...
}

# ogen_client generates a client of orders with ogen, which checks each response against the document.
ogen_client() {
	"$tmp/bin/ogen" --loglevel error --config client/ogen/ogen.yml --target client/ogen --package ogen \
		"$tmp/docs/2.0.0.json" || return 1
	go vet -tags generated ./client/ogen && timeout 900 go test -tags generated -count=1 ./client/ogen
}

walk() { timeout 2400 "$tmp/bin/walk" -url "$url" -seed "$SEED" "$@"; }

# prism CONTRACT UPSTREAM starts a proxy that holds what passes against the document; proxy is its URL then.
prism() {
	rm -f "$tmp/prism.log"
	# Without a function, so that what is remembered is the proxy and no subshell around it.
	PATH=$modules/.bin:$PATH timeout 1000 prism proxy "$tmp/docs/$1.json" "$url$2" -h 127.0.0.1 -p 0 \
		>"$tmp/prism.log" 2>&1 &
	pids+=("$!")
	proxy=$(wait_for "$tmp/prism.log" 'listening on \(http[^ ]*\)' "$!")
}

proxied() {
	prism "$1" "$2" && walk -contract "$1" -proxy "$proxy" -requests 500
}

# notes WHAT CURL-FLAGS... asks the proxy something that it has to object to.
notes() {
	curl -sS --max-time 120 -D - -o /dev/null "${@:2}" | tee "$tmp/headers"
	grep -qi "^sl-violations:.*$1" "$tmp/headers"
}

two_lines='{"lines":[{"itemId":1,"qty":2},{"itemId":2,"qty":1}]}'

# What Prism has to object to: a body of 2.0.0 sent under 1.0.0, and an answer that is not as its document says.
strangers() {
	prism 1.0.0 /v1.0 || return 1
	notes '"request","body"' -H 'Content-Type: application/json' -d "$two_lines" "$proxy/orders" || return 1
	sed -E 's/"format": ?"date-time"/"pattern":"^noon$"/g' "$tmp/docs/2.0.0.json" >"$tmp/docs/noon.json"
	prism noon /v2 && notes '"response","body"' -H 'Content-Type: application/json' -d "$two_lines" "$proxy/orders"
}

breaking() { timeout 600 "$tmp/bin/oasdiff" breaking --fail-on ERR "$1" "$2"; }
# neutral prints a document without what names the contract in it, which is different on purpose.
neutral() {
	sed -E -e 's/vnd\.shop\.[0-9]+\.[0-9]+\.[0-9]+\./vnd.shop./g' -e 's/"\^v\?\([^"]*\)\$"/"^v?[0-9.]+$"/g' "$tmp/docs/$1.json"
}

# changes OLD NEW prints what has changed for clients, each thing once, and leaves out what repeats it: that there are filters
# and sorts by a new member, and that a contract which is not deprecated has no dates.
changes() {
	timeout 600 "$tmp/bin/oasdiff" changelog --color never --format singleline "$tmp/neutral/$1.json" \
		"$tmp/neutral/$2.json" >"$tmp/changes" || return 1
	sed -E -e 's/ at [^ ]*,//' -e 's/ \(media type: [^)]*\)//' -e 's/ for the response with the status `[0-9]+`//' \
		-e '/optional-response-header-removed|endpoint-reactivated|parameter `[A-Za-z]+\.[A-Za-z]+`|parameter `sort`/d' \
		-e '/^$/d' "$tmp/changes" | sort -u
}

update() {
	local c
	for c in "${contracts[@]}"; do
		node -e 'const fs = require("fs"), [, from, to] = process.argv
			fs.writeFileSync(to, JSON.stringify(JSON.parse(fs.readFileSync(from)), null, 1) + "\n")' \
			"$tmp/docs/$c.json" "golden/$c.json" || return 1
	done
}

step 'oapi-codegen, oasdiff, walk' install_tools
step 'start the shop' start_shop
step 'fetch the documents' fetch
if [ "$option" = -update ]; then
	step 'write golden/' update
	exit 0
fi
for c in "${contracts[@]}"; do
	step "$c: spectral" spectral "$tmp/docs/$c.json"
	step "$c: redocly" redocly "$tmp/docs/$c.json"
done
for variant in default-3.0 default-3.1 default-3.2; do
	step "2.0.0 $variant: spectral, redocly" lint "2.0.0-$variant"
done
for variant in full-3.0 full-3.2; do
	step "2.0.0 $variant: redocly" redocly "$tmp/variants/2.0.0-$variant.json"
done
step 'openapi-schema-validator: all variants, JSON and YAML' valid
step 'spectral objects to a broken document' refused . spectral "$tmp/docs/broken.json"
step 'redocly objects to a broken document' refused . redocly "$tmp/docs/broken.json"
step 'openapi-typescript and tsc' typescript
step 'default profile: openapi-typescript, tsc with strict, openapi-fetch' fetch_client
step 'default profile: tsc objects to what the types refuse' wrong_types
for version in 3.0 3.1; do
	step "default profile, $version: oapi-codegen and ogen" simple_clients "$version"
done
step 'oapi-codegen: clients that create, read, patch and delete' go_clients
step 'ogen: a client that checks each response' ogen_client
for c in "${contracts[@]}"; do
	step "$c: kin-openapi on $REQUESTS random requests" walk -contract "$c" -requests "$REQUESTS"
	cat "$log"
done
step '1.0.0: Prism as a proxy' proxied 1.0.0 /v1.0
step '1.1.0: Prism as a proxy' proxied 1.1.0 /v1
step '2.0.0: Prism as a proxy' proxied 2.0.0 /v2
step 'Prism objects to a body of 2.0.0 under 1.0.0' strangers
for c in "${contracts[@]}"; do
	step "$c: oasdiff finds nothing broken since golden/$c.json" breaking "golden/$c.json" "$tmp/docs/$c.json"
done
step 'oasdiff: 1.1.0 breaks no client of 1.0.0' breaking "$tmp/neutral/1.0.0.json" "$tmp/neutral/1.1.0.json"
step 'oasdiff: 2.0.0 would break clients of 1.1.0' refused . breaking "$tmp/neutral/1.1.0.json" "$tmp/neutral/2.0.0.json"
for pair in '1.0.0 1.1.0' '1.1.0 2.0.0'; do
	read -r old new <<<"$pair"
	printf '\n# What changes from %s to %s\n' "$old" "$new"
	changes "$old" "$new" || exit 1
done
