#!/usr/bin/env bash
# Makes the release of HEAD twice, in two clones, and tries all of it: the same bytes, the signature, archives, packages in a root without
# anything else, the image as its user on a read-only file system, manifests by their own tools, the action. It needs Go, a module proxy
# and root, and Debian's rpm, ruby and promtool, which it gets where they are missing. GORELEASER, COSIGN, KREW, ACTIONLINT and HELM are
# commands, and GOTOOLCHAIN is the version of Go.
set -euo pipefail
cd "$(dirname "$0")/../.."
root="$PWD"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
version=0.0.1 # a tag of the clones alone
commit="$(git rev-parse HEAD)" # HEAD may move meanwhile

say() { echo "--- $*"; }
fail() { echo "release-check: $*" >&2; exit 1; }
# has PATTERN: grep -q that reads all of its input, so that no program is ended by a pipe that isn't read any more.
has() { grep -e "$1" >/dev/null; }
: "${GORELEASER:?found none: run make release-check, which sets it}" "${COSIGN:?}" "${KREW:?}" "${ACTIONLINT:?}" "${HELM:?}" "${GOTOOLCHAIN:?}"
[ "$(id -u)" = 0 ] || fail "found the user $(id -un): want root, to install packages in a root of their own and to change into it"
missing=()
command -v rpm >/dev/null || missing+=(rpm)
command -v ruby >/dev/null || missing+=(ruby)
if [ ${#missing[@]} -gt 0 ] || ! command -v promtool >/dev/null; then
	apt-get update -qq
fi
if [ ${#missing[@]} -gt 0 ]; then
	echo "installing Debian's ${missing[*]}" >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

say "chart: Helm's lint, all of its values, values that are refused, and the same objects for kustomize"
chart=packaging/helm/nodesim
$HELM lint --quiet "$chart"
all="store.url=s3://b?region=x,store.secretName=s,events=true,webhook.secretName=w,metrics.podMonitor=true,metrics.rules=true"
all="$all,metrics.dashboard=true,recorder.machines=true,recorder.nodegroup=a,recorder.keepAge=24h,recorder.keepSize=,podLabels.a=b,podAnnotations.c=d,metrics.labels.release=p"
$HELM template x "$chart" --kube-version 1.36.0 --set "$all" > "$work/chart.yaml"
for kind in PodMonitor PrometheusRule ConfigMap NetworkPolicy PodDisruptionBudget Deployment; do
	grep -qx "kind: $kind" "$work/chart.yaml" || fail "chart: found no $kind with all values set"
done
grep -qx "        a: b" "$work/chart.yaml" && grep -qx "        c: d" "$work/chart.yaml" && [ "$(grep -cx "    release: p" "$work/chart.yaml")" = 2 ] &&
	! grep -q -- --keep-size "$work/chart.yaml" || fail "chart: found no labels or annotations of the values, or a --keep-size"
$HELM template x "$chart" --kube-version 1.36.0 --set volume.claim=true,volume.storageClassName=fast > "$work/claim.yaml"
grep -qx "kind: StatefulSet" "$work/claim.yaml" && grep -q "storageClassName: fast" "$work/claim.yaml" && ! grep -Eq "emptyDir|strategy:|volumes:" "$work/claim.yaml" ||
	fail "chart: found no StatefulSet with claims alone, with volume.claim"
for bad in replicas=0 volume.claim=yes-please recorder.quiet=soon recorder.quiet=0s recorder.maxSize=lots recorder.keepSize=0 store.url=ftp://x recorder.nodgroup=x terminationGracePeriodSeconds=5 \
	recorder.nodegroup=a,recorder.selector=b; do
	if $HELM template x "$chart" --kube-version 1.36.0 --set "$bad" > /dev/null 2> "$work/refused"; then fail "chart: --set $bad was taken"; fi
	grep -q "${bad%%[.=]*}" "$work/refused" || fail "chart: --set $bad: the refusal doesn't name it: $(cat "$work/refused")"
done
HELM="$HELM" packaging/kustomize/render.sh | diff packaging/kustomize/nodesim.yaml - || fail "packaging/kustomize/nodesim.yaml isn't of this chart: run make kustomize"

say "alerts: Prometheus' own check, and when each of them begins and ends"
if ! command -v promtool >/dev/null; then
	(cd "$work" && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb prometheus)
	PATH="$PATH:$work/prometheus/usr/bin"
fi
mkdir "$work/alerts"
cp test/release/alerts.yaml "$work/alerts/"
$HELM template x "$chart" --kube-version 1.36.0 --set metrics.rules=true --show-only templates/monitoring.yaml |
	sed -n '/^  groups:/,$s/^  //p' > "$work/alerts/rules.yaml"
promtool check rules "$work/alerts/rules.yaml"
promtool test rules "$work/alerts/alerts.yaml"

say "a key of this check alone, and a cosign that asks no server"
signing="$work/signing"
mkdir "$signing"
COSIGN_PASSWORD=release-check $COSIGN generate-key-pair --output-key-prefix "$signing/cosign"
# No log to write to, no server to ask for the time, and no keys of either: without these files cosign downloads sigstore's.
echo '{"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json"}' >"$signing/services.json"
echo '{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}' >"$signing/trusted.json"
cat >"$signing/cosign" <<script
#!/usr/bin/env bash
exec $COSIGN "\$@" --signing-config="$signing/services.json" --trusted-root="$signing/trusted.json"
script
chmod +x "$signing/cosign"

# The first release is signed, by the arguments of .goreleaser.yaml. No two signatures of a file are the same, and checksums.txt doesn't
# list them. A tag of HEAD's own isn't what is made here.
export GORELEASER_CURRENT_TAG="v$version"
for clone in first second; do
	say "release of ${commit:0:8}, $clone time"
	git clone --quiet "$root" "$work/$clone"
	git -C "$work/$clone" reset --quiet --hard "$commit"
	git -C "$work/$clone" -c user.name=nodesim -c user.email=nodesim@example.org tag --annotate --message check "v$version"
	skip=publish,announce
	[ $clone = first ] || skip=$skip,sign
	(
		cd "$work/$clone"
		$GORELEASER check --quiet
		COSIGN="$signing/cosign" COSIGN_KEY="$(cat "$signing/cosign.key")" COSIGN_PASSWORD=release-check \
			$GORELEASER release --clean --skip=$skip
		packaging/homebrew/formula.sh dist
	)
done
dist="$work/first/dist"

say "the same checksums, and they are right"
diff "$dist/checksums.txt" "$work/second/dist/checksums.txt" || fail "two releases of one commit differ, see above"
(cd "$dist" && sha256sum --check --quiet checksums.txt)
cat "$dist/checksums.txt"
cmp "$dist/krew/nodesim.yaml" "$work/second/dist/krew/nodesim.yaml"
cmp "$dist/homebrew/Formula/nodesim.rb" "$work/second/dist/homebrew/Formula/nodesim.rb"
for file in nodesim{,-cloud}_${version}_{linux,darwin}_{amd64,arm64}.tar.gz nodesim{,-cloud}_${version}_windows_{amd64,arm64}.zip \
	nodesim_${version}_{amd64,arm64}.deb nodesim-$version-1.{x86_64,aarch64}.rpm nodesim{,-cloud}_$version.cdx.json nodesim_${version}_image.tar; do
	grep -q "  $file\$" "$dist/checksums.txt" || fail "checksums.txt: found no line for $file"
done

say "the signature of the checksums, and none of changed ones"
# verified FILE: cosign says that the signature is FILE's. It isn't in the log, which this check doesn't write to.
verified() {
	$COSIGN verify-blob --key "$signing/cosign.pub" --bundle "$dist/checksums.txt.sigstore.json" --insecure-ignore-tlog \
		--trusted-root="$signing/trusted.json" "$1"
}
verified "$dist/checksums.txt" || fail "checksums.txt.sigstore.json isn't the signature of checksums.txt"
sed '1s/^./x/' "$dist/checksums.txt" >"$signing/changed.txt"
if verified "$signing/changed.txt" 2>/dev/null; then fail "cosign takes the signature of checksums.txt for one of other checksums"; fi

say "archives"
for archive in "$dist"/*.tar.gz "$dist"/*.zip; do
	program=nodesim
	case "$archive" in
	*.zip) names="$(python3 -m zipfile --list "$archive" | awk 'NR > 1 { print $1 }')" program=nodesim.exe ;;
	*) names="$(tar -tzf "$archive")" ;;
	esac
	bill="$(basename "$archive")"
	bill="${bill%%_*}.cdx.json"
	for name in "$program" LICENSE LICENSES.txt README.md "$bill" kubectl_complete-nodesim \
		completions/nodesim.{bash,zsh,fish,ps1} man/nodesim.1.gz man/nodesim-replay.1.gz; do
		grep -qx "$name" <<<"$names" || fail "$(basename "$archive"): found no $name"
	done
done
for program in "$dist"/nodesim{,-cloud}_*/nodesim*; do
	go version -m "$program" | has 'CGO_ENABLED=0' || fail "$program: found no CGO_ENABLED=0"
	go version "$program" | has " $GOTOOLCHAIN\$" || fail "built with $(go version "$program"): want $GOTOOLCHAIN, the Makefile's RELEASE_GO"
done

# runs PREFIX...: what a user does first with a program that is called by these words, in an empty folder.
runs() {
	(
		mkdir -p "$work/empty"
		cd "$work/empty"
		[ "$("$@" version -o json | python3 -c 'import json, sys; v = json.load(sys.stdin); print(v["version"], v["commit"])')" = "v$version $commit" ] ||
			fail "$*: found the version $("$@" version -o json)"
		"$@" replay --simulate demo -o feed --speed max | tail -n 1 | has complete || fail "$*: the demo's feed doesn't end in complete"
		"$@" simulate demo --out - | has "^  program: nodesim v$version\$" || fail "$*: the tape doesn't say what wrote it"
	)
}
# refused URL PREFIX...: what a program without the buckets of clouds says of one, or one with them of a server that isn't there.
# Nothing is asked of a network.
refused() { AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x AWS_MAX_ATTEMPTS=1 timeout 60 "${@:2}" tapes list --store "$1" 2>&1 && fail "$*: found no error" || true; }
bucket='s3://tapes?region=x&endpoint=http://127.0.0.1:9&use_path_style=true'
mkdir "$work/archive" "$work/cloud"
tar -xzf "$dist/nodesim_${version}_linux_amd64.tar.gz" -C "$work/archive"
SECONDS=0
runs "$work/archive/nodesim"
say "from the archive to a replay: $SECONDS s, with the same from a tape"
refused "$bucket" "$work/archive/nodesim" | has nodesim-cloud || fail "nodesim doesn't say which program has buckets"
tar -xzf "$dist/nodesim-cloud_${version}_linux_amd64.tar.gz" -C "$work/cloud"
runs "$work/cloud/nodesim"
refused "$bucket" "$work/cloud/nodesim" | has 'connection refused' || fail "nodesim-cloud doesn't ask the bucket's server"
ln -s nodesim "$work/archive/kubectl-nodesim"
PATH="$work/archive:$PATH" kubectl-nodesim replay --help | has '^  kubectl nodesim replay ' || fail "the plugin doesn't call itself kubectl nodesim"
PATH="$work/archive:$PATH" "$work/archive/kubectl_complete-nodesim" repl | has '^replay' || fail "the plugin isn't completed"

say "from the archive to the tape of a roll that nobody announced"
assets="$(make -s --no-print-directory controlplane)"
test/adopt/adopt.sh "$dist/nodesim_${version}_linux_amd64.tar.gz" "$assets/kubectl"

say "Debian's package, in a root without anything"
debian="$work/debian"
mkdir -p "$debian/var/lib/dpkg/"{info,updates} "$debian/tmp"
touch "$debian/var/lib/dpkg/"{status,available}
dpkg --root="$debian" --force-script-chrootless --install "$dist/nodesim_${version}_amd64.deb" >/dev/null
runs chroot "$debian" /usr/bin/nodesim
chroot "$debian" /usr/bin/kubectl-nodesim --help | has '^  kubectl nodesim \[command\]$' || fail "Debian: found no plugin"
for file in usr/share/man/man1/nodesim-record.1.gz usr/share/bash-completion/completions/nodesim usr/share/doc/nodesim/copyright usr/bin/kubectl_complete-nodesim; do
	[ -f "$debian/$file" ] || fail "Debian: found no /$file"
done
dpkg --root="$debian" --remove nodesim >/dev/null 2>&1
[ ! -e "$debian/usr/bin/nodesim" ] || fail "Debian: the program is still there after its removal"

say "RPM, in a root without anything"
fedora="$work/fedora"
mkdir -p "$fedora/tmp"
rpm --root "$fedora" --initdb
rpm --root "$fedora" --install --nosignature "$dist/nodesim-$version-1.x86_64.rpm"
runs chroot "$fedora" /usr/bin/nodesim
rpm --root "$fedora" --verify nodesim

say "image, as its user, read only"
mkdir "$work/image" "$work/rootfs"
tar -xf "$dist/nodesim_${version}_image.tar" -C "$work/image"
python3 - "$work/image" "$work/rootfs" <<'python'
import json, subprocess, sys
layout, root = sys.argv[1:]
def blob(of): return layout + "/blobs/" + of["digest"].replace(":", "/")
index = json.load(open(layout + "/index.json"))
manifests = json.load(open(blob(index["manifests"][0])))["manifests"]
image = json.load(open(blob([m for m in manifests if m["platform"]["architecture"] == "amd64"][0])))
config = json.load(open(blob(image["config"])))["config"]
assert config["User"] == "65532:65532" and config["Entrypoint"] == ["/usr/bin/nodesim"], config
for layer in image["layers"]:
    subprocess.run(["tar", "-xzf", blob(layer), "-C", root], check=True)
python
cat >"$work/contained" <<'script'
#!/usr/bin/env bash
# contained ROOT ARG...: the image's entry point as its user, its file system read only.
set -euo pipefail
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
root="$1"
shift
cd /
exec chroot --userspec=65532:65532 "$root" /usr/bin/nodesim "$@"
script
chmod +x "$work/contained"
runs unshare --mount "$work/contained" "$work/rootfs"

refused "$bucket" unshare --mount "$work/contained" "$work/rootfs" | has 'connection refused' ||
	fail "the image's program doesn't ask the bucket's server"

say "krew's manifest"
$KREW -manifest "$dist/krew/nodesim.yaml" -skip-install
for archive in nodesim_${version}_{linux,darwin}_{amd64,arm64}.tar.gz nodesim_${version}_windows_{amd64,arm64}.zip; do
	grep -q "sha256: $(sha256sum <"$dist/$archive" | cut -d ' ' -f 1)" "$dist/krew/nodesim.yaml" || fail "krew's manifest: found no checksum of $archive"
	grep -q "uri: https://github.com/nodesim/nodesim/releases/download/v$version/$archive" "$dist/krew/nodesim.yaml" || fail "krew's manifest: found no $archive"
done

say "Homebrew's formula, with the archives of its four systems"
ruby -c "$dist/homebrew/Formula/nodesim.rb"
ruby test/release/formula.rb "$dist/homebrew/Formula/nodesim.rb" "$dist"

say "the action"
mkdir -p "$work/actions/.github/workflows" "$work/temp"
git -C "$work/actions" init --quiet
cp -r action.yml packaging "$work/actions/"
cp test/release/workflow.yml "$work/actions/.github/workflows/check.yml"
cp .github/workflows/release.yml "$work/actions/.github/workflows/"
(cd "$work/actions" && $ACTIONLINT -shellcheck= -pyflakes=)
mkdir "$work/releases"
ln -s "$dist" "$work/releases/v$version"
RUNNER_TEMP="$work/temp" RUNNER_OS=Linux RUNNER_ARCH=X64 GITHUB_OUTPUT="$work/output" GITHUB_PATH="$work/path" \
	NODESIM_RELEASES="file://$work/releases" NODESIM_VERSION="v$version" packaging/action/install.sh
say "all of it is as it should be"
