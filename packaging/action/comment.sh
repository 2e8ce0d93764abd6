#!/usr/bin/env bash
# Third step of action.yml: keeps NODESIM_SUMMARY in one comment of the pull request, which it finds by its first line. A
# comment of somebody else that begins so stays as it is. The tapes' result is the job's, whether it can comment or not: the token of a
# fork's pull request may not.
set -euo pipefail

# Each use has its own comment; uses with the same workflow, job, tapes and plan share one.
use="$(printf '%s\n' "${GITHUB_WORKFLOW:-}" "${GITHUB_JOB:-}" "${NODESIM_TAPES:-}" "${NODESIM_PLAN:-}" | cksum | cut -d ' ' -f 1)"
mark="<!-- nodesim $use -->"
body="$RUNNER_TEMP/nodesim-comment.md"
# GitHub takes 65,536 characters.
{ echo "$mark"; head -c 60000 "$NODESIM_SUMMARY"; } >"$body"
if [ "$(wc -c <"$NODESIM_SUMMARY")" -gt 60000 ]; then
	printf '\n\nThe rest is in the summary of the job.\n' >>"$body"
fi
comments="repos/$GITHUB_REPOSITORY/issues"
# A person's token writes as that person; the job's own is a bot's, and may not ask for its user.
NODESIM_AUTHOR="$(gh api user --jq .login 2>/dev/null)" || NODESIM_AUTHOR=""
export NODESIM_AUTHOR
ours='(if env.NODESIM_AUTHOR == "" then .user.type == "Bot" else .user.login == env.NODESIM_AUTHOR end)'

keep() {
	local id
	id="$(gh api --paginate "$comments/$PULL_REQUEST/comments" --jq ".[] | select($ours and (.body | startswith(\"$mark\"))) | .id" | awk 'NR == 1')" || return
	if [ -n "$id" ]; then
		gh api --silent --method PATCH "$comments/comments/$id" --field "body=@$body"
	else
		gh api --silent --method POST "$comments/$PULL_REQUEST/comments" --field "body=@$body"
	fi
}

keep || echo "::warning title=nodesim::the comment can't be written: want pull-requests: write, which the token of a fork's pull request never has"
