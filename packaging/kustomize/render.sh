#!/usr/bin/env bash
# Prints the objects of the chart with its defaults, for kustomize. HELM is the command.
set -euo pipefail
cd "$(dirname "$0")/../helm/nodesim"
echo "# Made of the Helm chart with its defaults by packaging/kustomize/render.sh; make adopt compares."
$HELM template nodesim . --namespace nodesim --kube-version 1.36.0 | sed 's#managed-by: Helm#managed-by: kustomize#; /^# Source: /d'
