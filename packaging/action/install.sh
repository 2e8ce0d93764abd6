#!/usr/bin/env bash
# First step of action.yml: the nodesim of NODESIM_BINARY, or the archive of release NODESIM_VERSION, checked against the
# release's checksums. Its path is the output `nodesim`, and its folder is on the PATH of later steps.
# bash 3.2 has to do, which is macOS'.
set -euo pipefail

fail() { echo "::error title=nodesim::$*"; exit 1; }

folder="$RUNNER_TEMP/nodesim"
mkdir -p "$folder"

if [ -n "${NODESIM_BINARY:-}" ]; then
	[ -x "$NODESIM_BINARY" ] || fail "input binary: found no program at $NODESIM_BINARY: want a nodesim that is there"
	nodesim="$(cd "$(dirname "$NODESIM_BINARY")" && pwd)/$(basename "$NODESIM_BINARY")"
else
	version="${NODESIM_VERSION:-}"
	case "$version" in
	v[0-9]*.[0-9]*.[0-9]*) ;;
	*) fail "input version: found \"$version\": want a release such as v0.1.0, or binary" ;;
	esac
	case "$RUNNER_OS" in
	Linux) os=linux form=tar.gz program=nodesim ;;
	macOS) os=darwin form=tar.gz program=nodesim ;;
	Windows) os=windows form=zip program=nodesim.exe ;;
	*) fail "runner: found the system $RUNNER_OS: want Linux, macOS or Windows" ;;
	esac
	case "$RUNNER_ARCH" in
	X64) arch=amd64 ;;
	ARM64) arch=arm64 ;;
	*) fail "runner: found the architecture $RUNNER_ARCH: want X64 or ARM64" ;;
	esac
	archive="nodesim_${version#v}_${os}_${arch}.$form"
	from="${NODESIM_RELEASES:-https://github.com/nodesim/nodesim/releases/download}/$version"
	for file in checksums.txt "$archive"; do
		curl --fail --silent --show-error --location --retry 5 --retry-delay 2 --output "$folder/$file" "$from/$file" ||
			fail "release $version: $from/$file can't be downloaded: want a version that is released"
	done
	want="$(awk -v file="$archive" '$2 == file || $2 == "*" file { print $1 }' "$folder/checksums.txt")"
	[ -n "$want" ] || fail "release $version: checksums.txt has no line for $archive"
	if command -v sha256sum >/dev/null; then sum=(sha256sum); else sum=(shasum -a 256); fi
	found="$("${sum[@]}" <"$folder/$archive" | cut -d ' ' -f 1)"
	[ "$found" = "$want" ] || { rm -f "$folder/$archive"; fail "release $version: $archive: found the SHA-256 $found: want $want"; }
	case "$form" in
	tar.gz) tar -xzf "$folder/$archive" -C "$folder" "$program" ;;
	zip) unzip -qo "$folder/$archive" "$program" -d "$folder" ;;
	esac
	rm -f "$folder/$archive"
	nodesim="$folder/$program"
fi

"$nodesim" version || fail "$nodesim doesn't run here"
echo "nodesim=$nodesim" >>"$GITHUB_OUTPUT"
dirname "$nodesim" >>"$GITHUB_PATH"
