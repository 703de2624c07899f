# shellcheck shell=bash disable=SC2154 # lib.sh sets tmp and at_exit
# Steps of .ci/run: Go modules, databases, fuzzing, and programs that README names. It is sourced after lib.sh.
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Go runs git for the version of a build; git refuses a clone that belongs to another user unless it is marked as safe.
printf '[safe]\n\tdirectory = *\n' >"$tmp/gitconfig"
export GIT_CONFIG_GLOBAL=$tmp/gitconfig
for name in "${!PG@}"; do unset "$name"; done

modules() { find . -name go.mod -not -path '*/testdata/*' -not -path '*/node_modules/*' -printf '%h\n' | sort; }
nested() { modules | grep -vx '\.'; }

# debian installs the Debian packages of all steps that are missing, in one call.
debian() {
	local programs=(initdb redis-server pgbouncer nginx varnishd squid apache2 haproxy caddy chromium sqlite3)
	local packages=(postgresql redis-server pgbouncer nginx-light varnish squid apache2 haproxy caddy chromium sqlite3)
	local i missing=() PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
	for i in "${!programs[@]}"; do
		command -v "${programs[i]}" || ls /usr/lib/postgresql/*/bin/"${programs[i]}" 2>/dev/null || missing+=("${packages[i]}")
	done
	[ ${#missing[@]} = 0 ] || .ci/apt "${missing[@]}"
}

# download MODULE... downloads what each module needs by its own go.mod, and installs staticcheck.
download() {
	local dir
	for dir; do
		at "$dir" retry go list -deps -test ./... >/dev/null || return 1
	done
	GOBIN=$tmp/bin retry go install "$STATICCHECK"
}

# workspace makes a go.work of all modules. The modules require one version of each dependency, so that what is compiled
# in the workspace is compiled for their tests, too.
workspace() {
	local dir
	printf 'go %s\n' "$(go list -m -f '{{.GoVersion}}.0')" >"$tmp/go.work"
	for dir in $(modules); do printf 'use %s\n' "$root/${dir#./}" >>"$tmp/go.work"; done
	sed -i 's|/\.$||' "$tmp/go.work"
	in_workspace go list -m
}

in_workspace() { GOWORK=$tmp/go.work "$@"; }

# vet and static check all modules at once. Files with the tag gqlgen need code that generated has written.
vet() { in_workspace go vet -tags gqlgen $(packages "$@"); }
static() { in_workspace "$tmp/bin/staticcheck" -tags gqlgen $(packages "$@"); }

# packages MODULE... prints the patterns of the packages of some modules, by default of all.
packages() {
	local dir
	[ $# != 0 ] || set -- $(modules)
	for dir; do printf '%s/...\n' "$dir"; done
}

# generated writes the code of gqlgen, which is not committed.
generated() { at examples/bench retry go generate ./internal/gqlgenserver; }

# start_postgres starts a server for the tests of all modules, each of which creates a database of its own. No test
# crashes the machine, so the server runs without fsync.
start_postgres() {
	local out
	.ci/postgres install || return 1
	out=$(FSYNC=off .ci/postgres start) || return 1
	printf '%s\n' "$out"
	at_exit+=(".ci/postgres stop '${out%%$'\n'*}'")
	export TEST_PG_DSN=${out##*$'\n'}
}

# start_redis starts a server for the tests of all modules, which use keys of their own.
start_redis() {
	local out
	.ci/redis install || return 1
	out=$(.ci/redis start) || return 1
	printf '%s\n' "$out"
	at_exit+=(".ci/redis stop '${out%%$'\n'*}'")
	export TEST_REDIS=${out##*$'\n'}
}

formatted() {
	local files
	files=$(gofmt -l .) || return 1
	[ -z "$files" ] || { printf 'not formatted:\n%s\n' "$files"; return 1; }
}

# with_race are the flags of go test -race. The SQLite engines are C programs in translation, with one goroutine for each
# connection: instrumented, they run 30 to 50 times slower and pass the deadlines of requests.
with_race=(-race '-gcflags=modernc.org/...=-race=false' '-gcflags=github.com/ncruces/...=-race=false')

# tests FLAGS... runs go test and keeps its output, which is printed at the end.
tests() { timeout 1800 go test -timeout 25m "$@" 2>&1 | tee -a "$tmp/tests.$BASHPID"; }

# concurrent prints the packages of the root with goroutines, locks or HTTP in their code or tests. The kits and the oracle of
# GraphQL are left out: they compare thousands of results, of code whose own tests run with the detector.
concurrent() {
	local dir
	go list -f '{{.Dir}}' ./... | grep -vE '/(resourcetest|relationtest|oracle)$' | while read -r dir; do
		! grep -qE '^\s*go [a-z]|"sync|"net/http' "$dir"/*.go || echo "$dir"
	done
}

# with_detector MODULE and without_detector MODULE run the tests of a module with and without the race detector. Each test of
# a nested module runs in one of them, and those of the root module have all run by README's command. go vet is a step of
# its own. The tag is that of examples/bench.
with_detector() { at "$1" tests -vet=off -tags gqlgen "${with_race[@]}" -skip "$(without_race "$1")" ./...; }
without_detector() {
	local packages=./...
	[ "$1" != ./examples ] || packages=./shop # the only package of the list; others would be linked for nothing
	at "$1" tests -vet=off -tags gqlgen -run "$(without_race "$1")" "$packages"
}

# without_race MODULE prints a pattern of the tests of a module that run without the race detector only: kits, plans and
# random queries over more shapes of tables, and what has run on PostgreSQL with the detector and runs on SQLite, because they
# run the same code as the others; tests of the shop as a separate process, which the detector does not see; counts of
# allocations, which the detector changes; and all of .ci/clients, which have one goroutine each.
without_race() {
	case $1 in
	./.ci/clients) echo . ;;
	./examples/bench) echo '^TestStatedAllocations' ;;
	./resource/sql/sqltest) echo '^TestKitOf[CFST]|^TestKitOfOwn(UUIDs|Numbers)|^TestInjectionOverHTTP|^TestSixTables|^TestTypesEverywhere|^TestRows$|^Test(Aggregates|RelatedGroups|Relations|PagesOfRelations|Combinations|SearchDiffers)$|^Test[A-Za-z]*Plans$|/^(modernc|ncruces)$' ;;
	./resource/sql/pgxrows) echo '^TestRows$' ;;
	./examples) grep -l '^package main_test' "$1"/shop/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z]*\)(t .*/\1/p' | paste -sd'|' | sed 's/.*/^(&)$/' ;;
	*) echo '^$' ;;
	esac
}

# checked COMMAND... runs a check and appends its output to a file, which is printed at the end.
checked() { timeout 3000 "$@" 2>&1 | tee -a "$tmp/checks.$BASHPID"; }

# readme_names COMMAND... succeeds if README.md contains each of the commands.
readme_names() {
	local command
	for command; do
		grep -qF "$command" README.md || { echo "README.md does not contain: $command"; return 1; }
	done
}

# fuzz_targets MODULE prints a line "FOLDER TARGET" for each fuzz target, sorted by folder. It reads the source because
# go test -list would link every test of the module.
fuzz_targets() {
	local nested=() dir
	for dir in $(at "$1" modules | grep -vx '\.'); do nested+=(-path "$1/${dir#./}" -o); done
	find "$1" \( "${nested[@]}" -name node_modules \) -prune -o -name '*_test.go' -print0 |
		xargs -0r grep -HE '^func Fuzz[A-Za-z0-9_]*\(' | sed -E 's|/[^/]*:func (Fuzz[A-Za-z0-9_]*).*| \1|' | sort
}

# all_fuzz_targets prints the fuzz targets of all modules.
all_fuzz_targets() {
	local dir
	for dir in $(modules); do fuzz_targets "$dir"; done
}

# chosen_fuzz_targets prints twelve targets that follow each other in the list of all. The hash of the commit chooses them,
# so that a few merges reach all.
chosen_fuzz_targets() {
	local all groups
	mapfile -t all < <(all_fuzz_targets)
	groups=$(((${#all[@]} + 11) / 12))
	printf '%s\n' "${all[@]:0x$(git rev-parse --short=8 HEAD) % groups * 12:12}"
}

# fuzz_jobs reads targets from standard input and adds a step for each package, to which it compiles the targets once.
fuzz_jobs() {
	local folder target
	local -A targets=()
	while read -r folder target; do targets[$folder]+=" $target"; done
	for folder in "${!targets[@]}"; do
		job go "fuzz $FUZZTIME ${folder#./}:${targets[$folder]}" fuzz_package "$folder" ${targets[$folder]}
	done
}

fuzz_package() {
	local folder=$1 target
	shift
	at "$folder" timeout 900 go test -vet=off -c -fuzz=. -o "$tmp/${folder//\//_}.test" . || return 1
	for target; do fuzz "$folder" "$target" || return 1; done
}

# types ROUNDS runs FuzzTypes with 100,000 types in each round, two in each call. A process keeps all types that it has
# registered, so memory grows in a round: the three processes have 800 MB after 200,000 types.
types() {
	local FUZZTIME=50000x
	for _ in $(seq "$1"); do fuzz_package ./resource FuzzTypes || return 1; done
}

# fuzz FOLDER TARGET runs one target. A run can end with the error "context deadline exceeded" although it found nothing:
# internal/fuzz compares that error with the error of a parent context, which may be set later.
fuzz() {
	local out
	out=$tmp/${1//\//_}.log
	at "$1" timeout 900 "$tmp/${1//\//_}.test" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$FUZZTIME" \
		-test.fuzzcachedir "$tmp/fuzzcache/$1" 2>&1 | tee "$out" && return 0
	grep -qx ' *context deadline exceeded' "$out" &&
		! grep -qE 'Failing input written|failure while testing|panic: |fuzzing process (hung|term|exit)' "$out" && return 0
	git ls-files --others --exclude-standard | grep '/testdata/fuzz/' | xargs -r tail -n +1
	return 1
}

# changed_modules prints the nested modules with files that differ from BASE, by default from the commit at which the branch
# left the default branch; all of them if there is no such commit.
changed_modules() {
	local base=${BASE:-} name dir
	[ -n "$base" ] || for name in origin/HEAD origin/main main; do
		base=$(git merge-base HEAD "$name" 2>/dev/null) && break
	done
	[ -n "$base" ] || { nested; return; }
	{ git diff --name-only "$base" && git ls-files --others --exclude-standard; } | while read -r name; do
		dir=./$name
		while dir=${dir%/*}; [ ! -e "$dir/go.mod" ]; do :; done
		echo "$dir"
	done | sort -u | grep -vx '\.'
}

# shop_answers starts the shop with README's command, on a free port, requests its orders, and ends it with SIGTERM.
# go run does not forward SIGTERM, so the signal goes to its child.
shop_answers() {
	local out=$tmp/shop.out url runner server
	go run -C examples ./shop -addr 127.0.0.1:0 >"$out" 2>&1 &
	runner=$!
	pids+=("$runner")
	url=$(wait_for "$out" 'shop: listening on \(http[^ ]*\)' "$runner") || return 1
	server=$(cat /proc/"$runner"/task/*/children)
	server=${server%% *}
	pids+=("$server")
	curl -fsS --max-time 120 "$url/orders" | tee "$tmp/orders" || return 1
	grep -q '"items":\[{' "$tmp/orders" || { echo 'no orders'; return 1; }
	kill -TERM "$server" || return 1
	wait_gone "$server" || { kill -KILL "$server"; echo 'it did not end within five minutes'; return 1; }
	wait "$runner" || { echo "it ended with status $?"; tail -n 20 "$out"; return 1; }
	pids=()
}

# quickstart_answers creates a note in examples/quickstart, README's program. It listens on a fixed port; if another program
# uses that port, only the test of the package sends the request.
quickstart_answers() {
	local pid i address=localhost:8080
	go test -C examples -count=1 ./quickstart || return 1
	go build -C examples -buildvcs=false -o "$tmp/quickstart" ./quickstart || return 1
	if curl -sS --max-time 5 -o "$tmp/other" "http://$address/" 2>/dev/null; then
		echo "another program listens on $address"
		return 0
	fi
	"$tmp/quickstart" &
	pid=$!
	pids+=("$pid")
	for ((i = 0; i < 1200; i++)); do
		curl -fsS --max-time 60 "http://$address/notes" -H 'Content-Type: application/json' -d '{"text":"buy oil"}' 2>"$tmp/curl" && break
		kill -0 "$pid" 2>/dev/null || return 1
		sleep 0.1
	done | tee "$tmp/note"
	cat "$tmp/curl"
	kill "$pid"
	grep -qx '{"id":1,"text":"buy oil","done":false}' "$tmp/note"
}

# bench compares ratios of processor time with the limits of examples/bench/internal/report/budget.go.
bench() {
	generated && at examples/bench go run ./rest -gate && at examples/bench go run -tags gqlgen ./graphql -gate
}

# busy keeps all cores busy until the script ends.
busy() {
	local i
	for ((i = 0; i < $(nproc); i++)); do
		while :; do :; done &
		pids+=("$!")
	done
}

# summary NAME... prints the output that the steps have kept in files with these names.
summary() {
	local name
	for name; do
		printf '\n# %s\n' "$name"
		cat "$tmp/$name".* 2>/dev/null
	done
}
