# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# The packages below query/graphql/internal against the reference implementation, npm graphql, over generated documents;
# and the audits of GraphQL over HTTP by npm graphql-http. With -update it writes the responses of the reference into the
# corpora of the packages.
DOCUMENTS=${DOCUMENTS:-4000} # of each test
SEED=${SEED:-1}

reference() { timeout 2400 "$ready/reference.test" -test.timeout 35m "$@"; }

# build compiles the tests once, for all steps.
build() { go vet -tags reference . && go test -c -tags reference -vet=off -o "$ready/reference.test" .; }

oracle() { at "$root" timeout 2400 go test -timeout 35m -count=1 -run TestOracle ./query/graphql/internal/graphqltest/oracle -documents 10000; }

prepare() {
	step 'build' build
	if [ "$option" = -update ]; then
		step 'write the corpora' reference -test.run TestCorpora -update
		exit 0
	fi
	step 'corpora' reference -test.run TestCorpora
	step 'an unknown request fails' bash -c '! node reference.mjs /dev/null <<<"{\"kind\":\"nothing\"}"'
	step 'audits of GraphQL over HTTP' reference -test.v -test.run TestAudits
	grep -E '^ *(ok|warn|notice|error|fatal) +[0-9A-Z]{4} |audits are ok' "$log" | head -n 62
	step '10,000 documents against graphql-go' oracle
}

check() {
	step "$DOCUMENTS documents against npm graphql, in each test" reference -test.v -test.run LikeTheReference -documents "$DOCUMENTS" -seed "$SEED"
	grep -E '^(---|ok|PASS|    [a-z_]*\.go:)' "$log"
}
