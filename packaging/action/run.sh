#!/usr/bin/env bash
# Second step of action.yml: tests NODESIM_TAPES, plans NODESIM_PLAN, both held against NODESIM_POLICY, writes pages to
# NODESIM_REPORT, and tells the job's summary and the pull request. It fails after all that, if anything did.
# bash 3.2 has to do, which is macOS'.
set -euo pipefail

fail() { echo "::error title=nodesim::$*"; exit 1; }

# quietly runs a command whose output may hold names of a cluster: what begins with :: would be a command of the runner.
quietly() {
	local token status=0
	token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
	echo "::stop-commands::$token"
	"$@" || status=$?
	echo
	echo "::$token::"
	return "$status"
}

tapes=()
while IFS= read -r line; do [ -z "$line" ] || tapes+=("$line"); done <<<"${NODESIM_TAPES:-}"
policies=()
while IFS= read -r line; do [ -z "$line" ] || policies+=(--policy "$line"); done <<<"${NODESIM_POLICY:-}"
[ ${#tapes[@]} -gt 0 ] || [ -n "${NODESIM_PLAN:-}" ] || fail "inputs: found neither tapes nor plan: want one of them"

# A second use in the job writes another file.
summary="$(mktemp "$RUNNER_TEMP/nodesim-summary.XXXXXX")"
echo "summary=$summary" >>"$GITHUB_OUTPUT"
failed=0

if [ ${#tapes[@]} -gt 0 ]; then
	junit="${NODESIM_JUNIT:-nodesim-junit.xml}"
	annotations="$RUNNER_TEMP/nodesim-annotations.txt"
	rm -f "$annotations" "$summary.test"
	mkdir -p "$(dirname "$junit")"
	quietly "$NODESIM" test ${policies[@]+"${policies[@]}"} --junit "$junit" --summary "$summary.test" --annotations "$annotations" -- "${tapes[@]}" || failed=1
	if [ -f "$annotations" ]; then
		cat "$annotations"
		cat "$summary.test" >>"$summary"
		echo "junit=$junit" >>"$GITHUB_OUTPUT"
	else
		echo "::error title=nodesim test::No tape was tested; the log says why"
		printf '### nodesim test: **failed**\n\nNo tape was tested; the log of the job says why.\n' >>"$summary"
	fi
fi

if [ -n "${NODESIM_PLAN:-}" ]; then
	plan="$RUNNER_TEMP/nodesim-plan.md"
	status=0
	"$NODESIM" plan ${policies[@]+"${policies[@]}"} --output markdown -- "$NODESIM_PLAN" >"$plan" 2>"$plan.err" || status=$?
	if [ ! -s "$plan" ]; then
		failed=1
		echo "::error title=nodesim plan::There is no plan; the log says why"
	elif [ "$status" != 0 ]; then
		failed=1
		echo "::error title=nodesim plan::The plan isn't as it should be; the log and the summary say why"
	fi
	quietly cat "$plan" "$plan.err"
	[ -s "$plan" ] || printf '### nodesim plan: **failed**\n\nThere is no plan; the log of the job says why.\n' >"$plan"
	{ [ ! -s "$summary" ] || echo; cat "$plan"; } >>"$summary"
fi

# page writes the HTML page of a tape; a file that is none, such as a policy, has no page.
page() {
	"$NODESIM" inspect -- "$1" >/dev/null 2>&1 || return 0
	local name
	name="$(sed -e 's|\.\.*/||g' -e 's|^/*||' <<<"$1").html"
	mkdir -p "$(dirname "$NODESIM_REPORT/$name")"
	if quietly "$NODESIM" report --out "$NODESIM_REPORT/$name" -- "$1"; then
		pages+=("$NODESIM_REPORT/$name")
	else
		failed=1
		echo "::error title=nodesim report::A page could not be written; the log says why"
	fi
}
pages=()
if [ -n "${NODESIM_REPORT:-}" ]; then
	for path in ${tapes[@]+"${tapes[@]}"}; do
		while IFS= read -r -d '' file; do page "$file"; done < <(find "$path" -type f \( \
			-name '*.yaml' -o -name '*.yml' -o -name '*.jsonl' -o -name '*.yaml.gz' -o -name '*.yml.gz' -o -name '*.jsonl.gz' \
			-o -name '*.yaml.zst' -o -name '*.yml.zst' -o -name '*.jsonl.zst' \) -print0)
	done
fi
if [ ${#pages[@]} -gt 0 ]; then
	# A name is code in Markdown, which a backquote or another line would end.
	odd='[`[:cntrl:]]'
	{
		[ ! -s "$summary" ] || echo
		printf '### nodesim report\n\n'
		for file in "${pages[@]}"; do echo "- \`${file//$odd/?}\`"; done
	} >>"$summary"
fi

# GitHub drops a summary of more than 1 MiB.
head -c 1000000 "$summary" >>"$GITHUB_STEP_SUMMARY"
if [ "$(wc -c <"$summary")" -gt 1000000 ]; then
	printf '\n\nThe rest is in the log of the job.\n' >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$failed" = 0 ]; then echo "passed=true"; else echo "passed=false"; fi >>"$GITHUB_OUTPUT"
exit "$failed"
