# shellcheck shell=bash disable=SC2154 # lib.sh sets tmp, log and pids
# Steps that do not depend on each other: several run at a time. It is sourced after lib.sh.
#
# There are two queues. Steps of the queue "go" keep both cores busy, and steps of the queue "other" mostly wait for
# processes.
declare -A queue=([go]='' [other]='')

# job QUEUE NAME COMMAND... adds a step to a queue.
job() {
	local name=$1
	shift
	queue[$name]+=$(printf '%q ' "$@")$'\n'
}

# run_jobs QUEUE... runs the steps of both queues, one for each argument at a time, of the queue that it names or, when that
# is empty, of the other. It ends the script after the first that fails, or with KEEP_GOING=1 continues.
run_jobs() {
	local place from next ended status
	while :; do
		for ((place = 1; place <= $#; place++)); do
			[[ " ${running[*]} " != *" $place "* ]] || continue
			from=${!place}
			[ -n "${queue[$from]}" ] || { [ "$from" = go ] && from=other || from=go; }
			[ -n "${queue[$from]}" ] || continue
			next=${queue[$from]%%$'\n'*}
			queue[$from]=${queue[$from]#*$'\n'}
			(log=$tmp/log-$place; eval "step $next") &
			running[$!]=$place
		done
		[ ${#running[@]} != 0 ] || return 0
		wait -n -p ended "${!running[@]}"
		status=$?
		unset "running[$ended]"
		[ "$status" = 0 ] || failed
	done
}
declare -A running=() # the place of each step that runs, by its process

# end_jobs ends the steps that still run, and all processes that they have started.
end_jobs() {
	local pid
	for pid in "${!running[@]}"; do end_tree "$pid"; done
}
at_exit+=(end_jobs)

end_tree() {
	local child
	for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do end_tree "$child"; done
	kill "$1" 2>/dev/null
}

# check NAME COMMAND... is a step that no later step depends on. With KEEP_GOING=1 the script continues if it fails.
check() { (step "$@") || failed; }

failed() {
	failures=$((failures + 1))
	[ -n "${KEEP_GOING:-}" ] || exit 1
}
failures=0

# finish prints the ten longest steps, what failed, the total and the numbers of steps. It ends the script if a step failed.
finish() {
	local seconds name
	printf '\nthe longest steps:\n'
	sort -rn "$tmp/seconds" | head -n 10 | while IFS=$'\t' read -r seconds name; do printf '%6ds  %s\n' "$seconds" "$name"; done
	[ "$failures" = 0 ] || { printf '\nfailed:\n'; cat "$tmp/failed"; }
	printf '\ntotal: %ds\n%d passed, %d failed\n' "$SECONDS" $(($(wc -l <"$tmp/seconds") - failures)) "$failures"
	[ "$failures" = 0 ] || exit 1
}
