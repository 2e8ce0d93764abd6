#!/usr/bin/env bash
# adopt.sh ARCHIVE KUBECTL: the first hour of a user with a release's archive: a replay, then helm install of packaging/helm in a
# cluster, and a roll that nobody announced to the recorder, on a tape in a store. HELM is a command. The nodes are those of a live run.
# Virtual nodes run no containers, so this script runs the recorder's: its arguments, a token of its service account, a folder for its
# volume, from when its pod is Running until it is deleted, by the drains of the roll too. A readiness gate stands for the probe of
# /readyz: a drain that takes one recorder waits until the other records, as the budget has it, however late this script is.
set -Eeuo pipefail
archive="$(realpath "$1")" kubectl="$2"
packaging="$(cd "$(dirname "$0")/../../packaging" && pwd)"
: "${HELM:?found no command of Helm: run make adopt, which sets it}"
cluster="adopt-$$"
work="$(mktemp -d)"
cd "$work"
declare -A containers=() ready=()
roll="" up=""

fail() {
	trap - ERR
	tail -n 20 ./*.log >&2 2>/dev/null || true
	sed -n 's/.*time=\([^ ]*\) .*msg="\?\(a roll\|a tape\|this recorder\|election\).*/&/p' nodesim-*.log 2>/dev/null | sort >&2 || true
	echo "adopt: $*" >&2
	exit 1
}
finish() {
	local all=("${containers[@]}")
	[ -z "$roll" ] || all+=("$roll")
	[ ${#all[@]} = 0 ] || kill "${all[@]}" 2>/dev/null || true
	wait
	[ -z "$up" ] || ./nodesim cluster down --name "$cluster" >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap finish EXIT
trap "exit 143" INT TERM HUP
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# What Helm makes of the chart is what kustomize has. This comes before the time is taken: Helm may have to be compiled.
"$packaging/kustomize/render.sh" >rendered.yaml || fail "helm template"
diff "$packaging/kustomize/nodesim.yaml" rendered.yaml >&2 || fail "packaging/kustomize/nodesim.yaml isn't of packaging/helm/nodesim, see above: run make kustomize"

# Nothing but the archive: an empty folder, an empty home, no PATH. The program shows a replay after less than
# 0.1 s (README), the rest is tar, so ten seconds are kept on a busy machine too.
SECONDS=0 began="${EPOCHREALTIME/[.,]/}"
tar -xzf "$archive"
mkdir home
env -i HOME="$work/home" ./nodesim replay --simulate surge -o feed --speed max >replay.log
milliseconds=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
tail -n 1 replay.log | grep -q complete || fail "replay: the feed doesn't end in complete"
[ $milliseconds -le 10000 ] || fail "from the archive to a replay: found $milliseconds ms: want 10000 or less"
echo "from the archive to a replay: $milliseconds ms, $(wc -l <replay.log) lines"

./nodesim cluster up --name "$cluster" --detach >cluster.log 2>&1 || fail "cluster up"
up=yes
./nodesim cluster kubeconfig --name "$cluster" >kubeconfig
export KUBECONFIG="$work/kubeconfig"

# An overlay of kustomize, as packaging/kustomize/kustomization.yaml shows it: the server would take all of it.
mkdir overlay gated store
cp -r "$packaging/kustomize" base
cat >overlay/kustomization.yaml <<yaml
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../base]
patches:
- target: {kind: Deployment, name: nodesim}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--store=file://$work/store"}
yaml
"$kubectl" apply -f base/namespace.yaml >apply.log 2>&1 || fail "apply the namespace"
"$kubectl" kustomize overlay | "$kubectl" apply --dry-run=server -f - >>apply.log 2>&1 || fail "apply the overlay of kustomize"

# helm install, as docs/daemon.md has it, in the namespace of kustomize, which holds pods to the standard restricted: a store, and a roll
# that is over sooner. A post-renderer adds the readiness gate.
cat >gated/kustomization.yaml <<yaml
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [chart.yaml]
patches:
- target: {kind: Deployment, name: nodesim}
  patch: |
    - {op: add, path: /spec/template/spec/readinessGates, value: [{conditionType: adopt/probed}]}
yaml
cat >gate <<script
#!/usr/bin/env bash
set -euo pipefail
cat >"$work/gated/chart.yaml"
"$kubectl" kustomize "$work/gated"
script
chmod +x gate
$HELM install nodesim "$packaging/helm/nodesim" --namespace nodesim --create-namespace \
	--set store.url="file://$work/store" --set recorder.quiet=10s --post-renderer "$work/gate" >helm.log 2>&1 || fail "helm install"

# container POD: runs the recorder of a pod, in the background.
container() {
	local pod="$1" args=() arg text token
	text="$("$kubectl" --namespace nodesim get pod "$pod" -o jsonpath='{range .spec.containers[0].args[*]}{@}{"\n"}{end}')" || return 0
	token="$("$kubectl" --namespace nodesim create token nodesim)" || return 0
	while read -r arg; do
		case "$arg" in
		--dir=*) arg="--dir=$work/volumes/$pod" ;;
		--listen=*) arg="--listen=127.0.0.1:0" ;;
		esac
		args+=("${arg//'$(POD_NAMESPACE)'/nodesim}") # as the kubelet does
	done <<<"$text"
	mkdir -p "volumes/$pod"
	: >"$pod.log"
	cp kubeconfig "$pod.kubeconfig"
	"$kubectl" --kubeconfig "$pod.kubeconfig" config set-credentials recorder --token "$token" >/dev/null
	"$kubectl" --kubeconfig "$pod.kubeconfig" config set-context --current --user recorder >/dev/null
	KUBECONFIG="$work/$pod.kubeconfig" ./nodesim "${args[@]}" >>"$pod.log" 2>&1 &
	containers[$pod]=$!
}

# probe POD: opens the readiness gate of a pod whose recorder answers /readyz with 200.
probe() {
	local pod="$1" port status
	port="$(sed -n 's/.*address=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$pod.log")"
	[ -n "$port" ] || return 0
	status="$({ exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3; } 2>/dev/null)" || return 0
	[[ "$status" == *" 200 "* ]] || return 0
	"$kubectl" --namespace nodesim patch pod "$pod" --subresource=status \
		--patch '{"status":{"conditions":[{"type":"adopt/probed","status":"True"}]}}' >/dev/null || return 0
	ready[$pod]=yes
}

# kubelet starts, probes and ends containers as the pods say.
kubelet() {
	local pods pod phase deleted running=" "
	pods="$("$kubectl" --namespace nodesim get pods -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.status.phase}{" "}{.metadata.deletionTimestamp}{"\n"}{end}')" || return 0
	while read -r pod phase deleted; do
		if [ "$phase" = Running ] && [ -z "$deleted" ]; then
			running+="$pod "
			[ -n "${containers[$pod]:-}" ] || container "$pod"
			[ -z "${containers[$pod]:-}" ] || [ -n "${ready[$pod]:-}" ] || probe "$pod"
		fi
	done <<<"$pods"
	for pod in "${!containers[@]}"; do
		case "$running" in
		*" $pod "*) kill -0 "${containers[$pod]}" 2>/dev/null || fail "the recorder of $pod has ended by itself" ;;
		*)
			kill "${containers[$pod]}" 2>/dev/null || true
			wait "${containers[$pod]}" || fail "the recorder of $pod ended with status $?"
			unset "containers[$pod]"
			echo "the pod $pod was deleted; its recorder ended"
			;;
		esac
	done
}

# await WHAT COMMAND...: starts and ends recorders until something is so.
await() {
	local what="$1" deadline=$((SECONDS + 900))
	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || fail "$what: not within a quarter of an hour"
		kubelet
		sleep 0.5
	done
}

# The roll begins forty minutes after its nodes are there: 160 seconds at this speed, in which the recorders are scheduled, start, and
# elect one that makes tapes.
./nodesim simulate surge --show | sed 's/^roll:$/&\n  at: 40m/' >surge.yaml
grep -q 'at: 40m' surge.yaml || fail "surge: found no line roll: to say when"
./nodesim simulate ./surge.yaml --live --keep --speed 15x -o feed --set nodes=3 --set pods=4 --set minAvailable=3 >roll.log 2>&1 &
roll=$!
recording() { [ ${#ready[@]} -ge 2 ] && grep -qs "this recorder makes tapes from now on" nodesim-*.log; }
over() { ! kill -0 "$roll" 2>/dev/null; }
ended() { sed -n 's/.* terminated  *\(ip-[^ ]*\).*/\1/p' "$@" | sort -u; }
# taped reports whether the tapes in the store show the end of each node that the roll has replaced. There are several, which overlap:
# the drains take the recorders too.
taped() {
	rm -rf tapes
	./nodesim tapes get --all --store "file://$work/store" --out tapes >tapes.log 2>&1 || return 1
	local tape
	for tape in tapes/*.yaml.zst; do
		./nodesim replay "$tape" -o feed --speed max >"$tape.feed" || return 1
	done
	[ -z "$(comm -23 <(ended roll.log) <(ended tapes/*.feed))" ]
}
await "two recorders, one of them elected" recording
[ -z "$(ended roll.log)" ] || fail "the roll began before the recorder"
await "the end of the roll" over
wait "$roll" || fail "the live run"
roll=""
[ "$(ended roll.log | wc -l)" -ge 3 ] || fail "the roll replaced $(ended roll.log | wc -l) nodes, want 3 or more"
await "the end of each node on a tape in the store" taped
for tape in tapes/*.yaml.zst; do ./nodesim inspect --check "$tape" >check.log || fail "$tape isn't consistent"; done
./nodesim tapes list --store "file://$work/store"
echo "from the archive to the tapes of a roll that nobody announced: $SECONDS s"
