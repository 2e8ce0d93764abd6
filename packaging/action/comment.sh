#!/usr/bin/env bash
# Third step of action.yml: keeps NODESIM_SUMMARY in one comment of the pull request, which it finds by its first line. A
# person's comment that begins so stays as it is.
set -euo pipefail

mark="<!-- nodesim -->"
body="$RUNNER_TEMP/nodesim-comment.md"
# GitHub takes 65,536 characters.
{ echo "$mark"; head -c 60000 "$NODESIM_SUMMARY"; } >"$body"
comments="repos/$GITHUB_REPOSITORY/issues"
id="$(gh api --paginate "$comments/$PULL_REQUEST/comments" --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$mark\"))) | .id" | awk 'NR == 1')"
if [ -n "$id" ]; then
	gh api --silent --method PATCH "$comments/comments/$id" --field "body=@$body"
else
	gh api --silent --method POST "$comments/$PULL_REQUEST/comments" --field "body=@$body"
fi
