#!/usr/bin/env bash
# What `make minors` runs, from the root of the repository: the comparisons with a real control plane, and Kubernetes'
# conformance tests, against each minor of Kubernetes. $1 is "all", or "comparisons" without the conformance tests, which
# take half an hour each; the other arguments are minors. The results are in bin/minors: a line for each minor and package
# in results.tsv, with how many tests passed and failed (those within them included), the logs, the e2e tables, the table
# of docs/cluster.md in table.md, and in MINOR-known.tsv what scripts of writes found, as rows of
# internal/testing/writescripts/known.tsv. With NODESIM_SOAK, which make soak sets, all scripts of writes run; the other
# packages' long tests run in make soak itself, once and not for each minor. The status is 1 if anything failed, or a table
# lacks; the other minors run all the same, and the last lines say what failed.
set -euo pipefail
usage='want all or comparisons, and then minors, such as 1.34 (go run ./internal/localcluster/assets/build -minors prints all)'
case "${1:-}" in
all | comparisons) what="$1" && shift ;;
*) echo "minors: found \"${1:-}\": $usage" >&2 && exit 2 ;;
esac
if [ $# = 0 ]; then
	echo "minors: found no minor: $usage" >&2
	exit 2
fi
# In the order of the columns of docs/cluster.md.
packages=(./internal/localcluster ./recorder ./internal/testing/clusterstories ./internal/testing/writescripts ./scenarios/live)
results=bin/minors
mkdir -p "$results"
rm -f "$results"/{results.tsv,table.md,failed.txt}
soak="${NODESIM_SOAK:-}"
unset KUBEBUILDER_ASSETS NODESIM_SOAK

# failed notes what has failed, for the end.
failed() { echo "Kubernetes $1" | tee -a "$results/failed.txt" >&2; }

# count prints how many lines of a file match.
count() { grep -c -- "$1" "$2" || true; }

# cell runs the tests of a package against a minor, and leaves in $cell what the table says of them.
cell() {
	local minor="$1" assets="$2" package="$3" log passed failures status=0 long="" limit=2h
	log="$results/$minor-$(basename "$package").log"
	if [ -n "$soak" ] && [ "$package" = ./internal/testing/writescripts ]; then
		long="$soak" limit=6h
	fi
	KUBEBUILDER_ASSETS="$assets" NODESIM_SOAK="$long" go test -tags controlplane -vet=off -count 1 -timeout "$limit" -v "$package" > "$log" 2>&1 || status=$?
	passed="$(count '--- PASS: ' "$log")" failures="$(count '--- FAIL: ' "$log")"
	printf '%s\t%s\t%s\t%s\n' "$minor" "$package" "$passed" "$failures" | tee -a "$results/results.tsv"
	cell="$passed of $((passed + failures))"
	if [ "$package" = ./internal/testing/writescripts ]; then
		cell="$(sed -n 's/.*scripts of writes: \([0-9]* of [0-9]*\) agree with.*/\1 scripts/p' "$log")"
		scripts "$minor" "$log"
	fi
	if [ "$status" != 0 ] && [ "$failures" = 0 ] || [ -z "$cell" ]; then
		cell="${cell:-none}, not finished"
	fi
	if [ "$status" != 0 ]; then
		failed "$minor: $package: $cell: $log says why"
	fi
}

# scripts takes rows for known.tsv out of the log of the scripts of writes.
scripts() {
	local minor="$1" log="$2" rows="$results/$1-known.tsv"
	sed -n 's/^ *\(.*'$'\t''(why?)\)$/\1/p' "$log" > "$rows"
	if [ -s "$rows" ]; then
		failed "$minor: $(wc -l < "$rows" | tr -d ' ') rows in $rows: mend the simulation, or write why in place of (why?) and append them to internal/testing/writescripts/known.tsv"
	else
		rm -f "$rows"
	fi
}

# conformance runs Kubernetes' own tests against a minor, and leaves in $cell what the table says of them.
conformance() {
	local minor="$1" assets="$2" table
	# What another minor or another run has left isn't of this one.
	rm -f bin/e2e/{live,act}.tsv "$results/$minor"-{live,act}.tsv
	test/e2e/e2e.sh "$assets" || failed "$minor: conformance: found that test/e2e/e2e.sh failed: what it says above is why"
	for table in live act; do
		if [ -s "bin/e2e/$table.tsv" ]; then
			cp "bin/e2e/$table.tsv" "$results/$minor-$table.tsv"
		else
			failed "$minor: conformance: found no bin/e2e/$table.tsv, want the table of the conformance tests: what test/e2e/e2e.sh says above is why"
		fi
	done
	cell="not finished"
	if [ -s "$results/$minor-live.tsv" ]; then
		cell="$(count '^passed' "$results/$minor-live.tsv") of $(count '' "$results/$minor-live.tsv")"
	fi
}

cat > "$results/table.md" <<'END'
| Kubernetes | control plane | recorder | recorded clusters | simulated writes beside real ones | live runs | conformance |
|---|---|---|---|---|---|---|
END
for minor in "$@"; do
	if ! assets="$(make -s --no-print-directory controlplane KUBERNETES="$minor")"; then
		failed "$minor: found no control plane: what make controlplane KUBERNETES=$minor says above is why"
		echo "| $minor | not run | not run | not run | not run | not run | not run |" >> "$results/table.md"
		continue
	fi
	version="$("$assets/kube-apiserver" --version | sed -n 's/.* v\([0-9.]*\).*/\1/p')" || version=
	row="| ${version:-$minor} |"
	for package in "${packages[@]}"; do
		cell "$minor" "$assets" "$package"
		row="$row $cell |"
	done
	cell="not run"
	if [ "$what" = all ]; then
		conformance "$minor" "$assets"
	fi
	echo "$row $cell |" >> "$results/table.md"
done
cat "$results/table.md"
if [ -s "$results/failed.txt" ]; then
	echo "failed:" >&2
	cat "$results/failed.txt" >&2
	exit 1
fi
