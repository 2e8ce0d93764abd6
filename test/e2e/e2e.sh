#!/usr/bin/env bash
# What `make e2e` runs, from the root of the repository: the tests against a real control plane with virtual nodes, then against a
# simulated cluster that takes writes. $1 is the folder of the control plane's programs. Results stay in bin/e2e.
set -euo pipefail
export KUBEBUILDER_ASSETS="$1"
mkdir -p bin/e2e
rm -f bin/e2e/*.kubeconfig
(cd test/e2e && go test -vet=off -c -o ../../bin/e2e/e2e.test . && go build -o ../../bin/e2e/run ./run)

bin/nodesim cluster up --name e2e --detach --kubeconfig-out bin/e2e/live.kubeconfig > /dev/null
trap 'kill $(jobs -p) 2> /dev/null || true; bin/nodesim cluster down --name e2e' EXIT
bin/nodesim simulate test/e2e/nodes.yaml --live --kubeconfig bin/e2e/live.kubeconfig --speed 10x > bin/e2e/nodes.log 2>&1 &
bin/nodesim serve --simulate empty --set nodes=4 --writes act --speed 10x --kubeconfig-out bin/e2e/act.kubeconfig > bin/e2e/serve.log 2>&1 &
serving=$!
for n in live act; do
	until [ -s "bin/e2e/$n.kubeconfig" ]; do
		kill -0 $serving 2> /dev/null || { echo "e2e: nodesim serve ended before it wrote $n.kubeconfig: see bin/e2e/serve.log" >&2; exit 1; }
		sleep 1
	done
	bin/e2e/run -binary bin/e2e/e2e.test -kubeconfig "bin/e2e/$n.kubeconfig" -out "bin/e2e/$n.tsv"
done
bin/e2e/run -compare bin/e2e/live.tsv bin/e2e/act.tsv
