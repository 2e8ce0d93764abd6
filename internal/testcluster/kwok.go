package testcluster

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"strconv"
	"text/template"
)

// KubeletLabel is on every node whose kubelet lives: kwok keeps those nodes alive and runs their pods, and touches no
// other. Taking it away lets the kubelet fall silent, which is what SilenceKubelet does.
const (
	KubeletLabel = "testcluster.nodesim.dev/kubelet"
	kubeletAlive = "alive"
)

//go:embed stages.yaml
var stages string

// KwokStages is a configuration for kwok: nodes become Ready and pods run and leave after the NodeStart, PodStart and
// PodStop of the options, at once where these are zero. The program has no stages of its own.
func KwokStages(o Options) ([]byte, error) {
	form, err := template.New("stages.yaml").Delims("<<", ">>").Parse(stages)
	if err != nil {
		return nil, fmt.Errorf("stages of kwok: %w", err)
	}
	var text bytes.Buffer
	if err := form.Execute(&text, o); err != nil {
		return nil, fmt.Errorf("stages of kwok: %w", err)
	}
	return text.Bytes(), nil
}

// startKwok starts kwok with the delays of the options. It takes all its stages from us: where a configuration has
// any, kwok uses none of its own.
func (c *Cluster) startKwok(kubeconfig string) error {
	o := c.options
	text, err := KwokStages(Options{NodeStart: o.nodeStart(), PodStart: o.podStart(), PodStop: o.podStop()})
	if err != nil {
		return fmt.Errorf("start kwok: %w", err)
	}
	config := c.path("stages.yaml")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		return fmt.Errorf("start kwok: %w", err)
	}
	// kwok renews a lease at a quarter of its duration (sigs.k8s.io/kwok, pkg/kwok/controllers/controller.go).
	lease := max(1, int(o.nodeGrace().Seconds()))
	// kwok reads and writes below its work folder; the user's own must not matter.
	return c.run("kwok", []string{
		"--kubeconfig=" + kubeconfig, "--config=" + config, "--manage-all-nodes=false",
		"--manage-nodes-with-label-selector=" + KubeletLabel + "=" + kubeletAlive,
		"--node-lease-duration-seconds=" + strconv.Itoa(lease),
	}, "KWOK_WORKDIR="+c.path("kwok"), "HOME="+c.folder)
}
