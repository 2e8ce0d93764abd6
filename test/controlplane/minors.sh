#!/usr/bin/env bash
# What `make minors` runs, from the root of the repository: the comparisons with a real control plane, and Kubernetes'
# conformance tests, against each minor of Kubernetes. $1 is "all", or "comparisons" without the conformance tests, which
# take half an hour each; the other arguments are minors. The results are in bin/minors: a line for each minor and package
# in results.tsv, with how many tests passed and failed (those within them included), the logs, and the e2e tables. The
# status is 1 if anything failed, or a table lacks; the other minors run all the same.
set -euo pipefail
what="$1"; shift
packages=(./internal/localcluster ./internal/testing/clusterstories ./internal/testing/writescripts ./recorder ./scenarios/live)
mkdir -p bin/minors
rm -f bin/minors/results.tsv
unset KUBEBUILDER_ASSETS
status=0
for minor in "$@"; do
	assets="$(make -s --no-print-directory controlplane KUBERNETES="$minor")"
	for package in "${packages[@]}"; do
		log="bin/minors/$minor-$(basename "$package").log"
		KUBEBUILDER_ASSETS="$assets" go test -tags controlplane -vet=off -count 1 -timeout 2h -v "$package" > "$log" 2>&1 || status=1
		passed="$(grep -c -- '--- PASS: ' "$log" || true)" failed="$(grep -c -- '--- FAIL: ' "$log" || true)"
		printf '%s\t%s\t%s\t%s\n' "$minor" "$package" "$passed" "$failed" | tee -a bin/minors/results.tsv
	done
	if [ "$what" = all ]; then
		# What another minor or another run has left isn't of this one.
		rm -f bin/e2e/{live,act}.tsv "bin/minors/$minor"-{live,act}.tsv
		test/e2e/e2e.sh "$assets" || status=1
		for table in live act; do
			if [ -s "bin/e2e/$table.tsv" ]; then
				cp "bin/e2e/$table.tsv" "bin/minors/$minor-$table.tsv"
			else
				echo "Kubernetes $minor: found no bin/e2e/$table.tsv, want the table of the conformance tests: what test/e2e/e2e.sh says above is why" >&2
				status=1
			fi
		done
	fi
done
exit "$status"
