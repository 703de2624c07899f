# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# The packages below query/graphql/internal against the reference implementation, npm graphql, over generated documents;
# and the audits of GraphQL over HTTP by npm graphql-http. With -update it writes the answers of the reference into the
# corpora of the packages.
DOCUMENTS=${DOCUMENTS:-4000} # of each test
SEED=${SEED:-1}

check() { go vet -tags reference . && timeout 2400 go test -timeout 35m -tags reference -count=1 "$@" .; }

oracle() { at "$root" timeout 2400 go test -timeout 35m -count=1 -run TestOracle ./query/graphql/internal/graphqltest/oracle -documents 10000; }

if [ "$option" = -update ]; then
	step 'write the corpora' check -run TestCorpora -update
	exit 0
fi
step 'corpora' check -run TestCorpora
step 'an unknown request fails' bash -c '! node reference.mjs /dev/null <<<"{\"kind\":\"nothing\"}"'
step 'audits of GraphQL over HTTP' check -v -run TestAudits
grep -E '^ *(ok|warn|notice|error|fatal) +[0-9A-Z]{4} |audits are ok' "$log" | head -n 62
step '10,000 documents against graphql-go' oracle
check -v -run LikeTheReference -documents "$DOCUMENTS" -seed "$SEED" >"$tmp/all" 2>&1
status=$?
grep -E '^(---|ok|FAIL|    [a-z_]*\.go:)' "$tmp/all"
exit $status
