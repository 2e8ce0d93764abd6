package localcluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The programs of a control plane, in the order of their starts.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Components are the names of all programs, which are those of their logs.
func Components() []string { return []string{Etcd, APIServer, ControllerManager, Scheduler} }

// Options say what a control plane is like. The zero value is a good one.
type Options struct {
	// Folder holds all of it; "" is a new one in the folder for temporary files. It must belong to this cluster alone:
	// Stop removes it.
	Folder string

	// Name is that of the cluster and the context in the kubeconfig, after "nodesim-"; "" is "cluster".
	Name string

	// Speed divides the control plane's own delays, as Pace lists them; 0 is 1, as in a real cluster.
	Speed float64

	// Port of 127.0.0.1 is where the API is served; 0 is a free one.
	Port int

	// AuditLog is a file at whose end each write to the API is noted as a line of JSON (audit.k8s.io/v1 Event, level
	// Metadata), without those of leases and Events; "" notes nothing. It stays when the control plane ends.
	AuditLog string

	// Flags are set last, by component and without dashes: {"kube-apiserver": {"event-ttl": "10m"}}. kube-scheduler
	// takes most of its settings from a file, which no flag overrules.
	Flags map[string]map[string]string

	// Kubernetes is the version of the programs, as assets.ResolveKubernetes takes it; "" is that of the tests, or what
	// the folder in KUBEBUILDER_ASSETS has.
	Kubernetes string

	// Offline uses no network for programs that aren't there: they are built from Go's module cache.
	Offline bool

	// Log takes lines about what is going on, such as a build of minutes; nil drops them.
	Log io.Writer
}

// At fastest every delay has long become its shortest, and at slowest it takes hours.
const slowest, fastest = 0.01, 10_000

// complete checks the options and fills in what is left open.
func (o Options) complete() (Options, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if !(o.Speed >= slowest && o.Speed <= fastest) { // neither is NaN
		return o, fmt.Errorf("control plane: speed %v: want %v to %v", o.Speed, slowest, fastest)
	}
	if o.Port < 0 || o.Port > 65535 {
		return o, fmt.Errorf("control plane: port %d: want 1 to 65535, or 0 for a free one", o.Port)
	}
	for name := range o.Flags {
		if !slices.Contains(Components(), name) {
			return o, fmt.Errorf("control plane: flags of %q: want those of %s", name, strings.Join(Components(), ", "))
		}
	}
	if o.Name == "" {
		o.Name = "cluster"
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.AuditLog != "" {
		path, err := filepath.Abs(o.AuditLog)
		if err != nil {
			return o, fmt.Errorf("control plane: audit log: %w", err)
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return o, fmt.Errorf("control plane: audit log: %w: want a file that can be written", err)
		}
		if err := file.Close(); err != nil {
			return o, fmt.Errorf("control plane: audit log: %w", err)
		}
		o.AuditLog = path
	}
	return o, nil
}
