#!/usr/bin/env bash
# files.sh VERSION DIR SECONDS: what goes into archives and packages beside the program, for .goreleaser.yaml: completions, man
# pages, licences and the bill of materials; and the program that makes the image. SECONDS is the time of the commit.
set -euo pipefail
version="$1" out="$2" created="$3"
rm -rf "$out"
mkdir -p "$out/completions" "$out/man"

# The program of this machine writes its own completions and pages.
program="$out/nodesim"
CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$program" ./cmd/nodesim
for shell in bash zsh fish powershell; do "$program" completion "$shell" >"$out/completions/nodesim.$shell"; done
mv "$out/completions/nodesim.powershell" "$out/completions/nodesim.ps1"
"$program" man "$out/man"
rm "$program"
gzip --best --no-name "$out/man"/*.1
find "$out" -exec touch --no-dereference --date "@$created" {} +

(cd test/release && CGO_ENABLED=0 go build -trimpath -o "../../$out/image" ./image)

targets=()
for os in linux darwin windows; do for arch in amd64 arm64; do targets+=("$os/$arch"); done; done
(cd test/release && go build -trimpath -o "../../$out/notices" ./notices)
notices() { (cd test/release && "../../$out/notices" -version "$version" "$@" "${targets[@]}"); }
notices -root ../.. -out "../../$out"
notices -root ../../cmd/nodesim-cloud -package . -name nodesim-cloud -out "../../$out/cloud"
