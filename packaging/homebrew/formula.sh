#!/usr/bin/env bash
# formula.sh DIST: writes DIST/homebrew/Formula/nodesim.rb, Homebrew's formula of a release, with the version and the sums of
# DIST/checksums.txt.
set -euo pipefail
dist="$1"
template="$(dirname "$0")/nodesim.rb.in"
fail() { echo "formula.sh: $*" >&2; exit 1; }

version="$(sed -n 's/^[0-9a-f]\{64\}  nodesim_\(.*\)_darwin_arm64\.tar\.gz$/\1/p' "$dist/checksums.txt")"
[ -n "$version" ] || fail "$dist/checksums.txt: found no line for nodesim_VERSION_darwin_arm64.tar.gz"
values=(-e "s#@version@#$version#g" -e "s#@download@#https://github.com/nodesim/nodesim/releases/download/v$version#g")
for target in {darwin,linux}_{arm64,amd64}; do
	archive="nodesim_${version}_$target.tar.gz"
	sum="$(awk -v file="$archive" '$2 == file { print $1 }' "$dist/checksums.txt")"
	[ -n "$sum" ] || fail "$dist/checksums.txt: found no line for $archive"
	values+=(-e "s#@$target@#$sum#g")
done
mkdir -p "$dist/homebrew/Formula"
sed "${values[@]}" "$template" >"$dist/homebrew/Formula/nodesim.rb"
