# shellcheck shell=bash disable=SC2154 # lib.sh sets tmp and at_exit
# Steps of .ci/run: Go modules, databases, fuzzing, and programs that README names. It is sourced after lib.sh.
STATICCHECK=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Go runs git for the version of a build; git refuses a clone that belongs to another user unless it is marked as safe.
printf '[safe]\n\tdirectory = *\n' >"$tmp/gitconfig"
export GIT_CONFIG_GLOBAL=$tmp/gitconfig
for name in "${!PG@}"; do unset "$name"; done

modules() { find . -name go.mod -not -path '*/testdata/*' -not -path '*/node_modules/*' -printf '%h\n' | sort; }
nested() { modules | grep -vx '\.'; }

# download MODULE... downloads what the modules need, and staticcheck.
download() {
	local dir
	for dir; do
		at "$dir" retry go list -deps -test ./... >/dev/null || return 1
	done
	retry go run "$STATICCHECK" -version
}

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

staticcheck() { go run "$STATICCHECK" ./...; }

# with_race are the flags of go test -race. The SQLite engines are C programs in translation, with one goroutine for each
# connection: instrumented, they run 30 to 50 times slower and pass the deadlines of requests.
with_race=(-race '-gcflags=modernc.org/...=-race=false' '-gcflags=github.com/ncruces/...=-race=false')

# tests FILE FLAGS... runs go test and appends its output to a file, which is printed at the end.
tests() {
	local out=$1
	shift
	timeout 1800 go test -timeout 25m "$@" 2>&1 | tee -a "$out"
}

# without_race MODULE prints a pattern of the tests of a nested module that run without the race detector instead of with it:
# kits, plans and random queries over more shapes of tables, which run the same code as the others; tests of the shop as a
# separate process, which the detector does not see; counts of allocations, which the detector changes; and all of .ci/clients,
# which have one goroutine each.
without_race() {
	case $1 in
	./.ci/clients) echo . ;;
	./examples/bench) echo '^TestStatedAllocations' ;;
	./resource/sql/sqltest) echo '^TestKitOf[CFST]|^TestKitOfOwn(UUIDs|Numbers)|^TestKitOverHTTPOf(TableThatExists|OwnUUIDs|OwnNumbers)|^TestInjectionOverHTTP|^TestSixTables|^TestTypesEverywhere|^TestRows$|^Test(Aggregates|RelatedGroups|Relations|PagesOfRelations|Combinations|SearchDiffers)$|^Test[A-Za-z]*Plans$' ;;
	./resource/sql/pgxrows) echo '^TestRows$' ;;
	./examples) grep -l '^package main_test' "$1"/shop/*_test.go | xargs sed -n 's/^func \(Test[A-Za-z]*\)(t .*/\1/p' | paste -sd'|' | sed 's/.*/^(&)$/' ;;
	*) echo '^$' ;;
	esac
}

# checked COMMAND... runs a check and appends its output to a file, which is printed at the end.
checked() { timeout 3000 "$@" 2>&1 | tee -a "$tmp/checks"; }

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

# fuzz_build FOLDER compiles the fuzz targets of a package once, into $tmp/fuzz.test.
fuzz_build() { at "$1" timeout 900 go test -c -fuzz=. -o "$tmp/fuzz.test" .; }

# fuzz FOLDER TARGET runs one target. A run can end with the error "context deadline exceeded" although it found nothing:
# internal/fuzz compares that error with the error of a parent context, which may be set later.
fuzz() {
	at "$1" timeout 900 "$tmp/fuzz.test" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$FUZZTIME" \
		-test.fuzzcachedir "$tmp/fuzzcache/$1" 2>&1 | tee "$tmp/fuzz.log" && return 0
	grep -qx ' *context deadline exceeded' "$tmp/fuzz.log" &&
		! grep -qE 'Failing input written|failure while testing|panic: |fuzzing process (hung|term|exit)' "$tmp/fuzz.log" && return 0
	git ls-files --others --exclude-standard | grep '/testdata/fuzz/' | xargs -r tail -n +1
	return 1
}

# fuzz_all runs each fuzz target of each module for FUZZTIME.
fuzz_all() {
	local dir folder target built=''
	for dir in $(modules); do
		fuzz_targets "$dir" >"$tmp/targets"
		while read -r folder target; do
			[ "$folder" = "$built" ] || step "build the fuzz targets of ${folder#./}" fuzz_build "$folder"
			built=$folder
			step "fuzz $FUZZTIME ${folder#./} $target" fuzz "$folder" "$target"
		done <"$tmp/targets"
	done
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

# bench_gate compares ratios of processor time with the limits of examples/bench/internal/report/budget.go. It needs the code
# of gqlgen, which a step of the gate generates.
bench_gate() {
	at examples/bench checked go run ./rest -gate || return 1
	at examples/bench checked go run -tags gqlgen ./graphql -gate
}

# summary FILE... prints the output that the steps have kept.
summary() {
	local part
	for part; do
		[ -e "$tmp/$part" ] || continue
		printf '\n# %s\n' "$part"
		cat "$tmp/$part"
	done
}
