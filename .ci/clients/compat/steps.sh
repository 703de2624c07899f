# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# The verdicts of version/compat on changes of contracts beside those of oasdiff and graphql-inspector. The tests of
# version/compat write the documents. Each difference is explained in compat_test.go.
OASDIFF=github.com/oasdiff/oasdiff@v1.37.0

install_tools() { GOBIN=$ready/bin retry go install "$OASDIFF"; }

# documents writes the pairs of documents.
documents() {
	mkdir -p "$ready/documents"
	at "$root" timeout 1200 go test -count=1 ./version/compat -run 'Planted|Changes|Wrapped' -args -dump "$ready/documents"
}

inspect() { timeout 600 node inspect.mjs "$ready/documents" >"$tmp/inspector.json"; }

verdicts() {
	timeout 1200 go test -count=1 -v . -args -documents "$ready/documents" -oasdiff "$ready/bin/oasdiff" \
		-inspector "$tmp/inspector.json"
}

prepare() {
	step 'oasdiff' install_tools
	step 'write documents' documents
}

check() {
	step 'graphql-inspector' inspect
	step 'compare verdicts' verdicts
	grep -vE '^(===|---|PASS|ok)' "$log"
}
