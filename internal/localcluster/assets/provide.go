package assets

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
)

// A Supply says which binaries are wanted, and where they may come from. The zero value is a good one.
type Supply struct {
	// Kubernetes is a version, as ResolveKubernetes takes it. "" is KubernetesVersion, or whatever is in the folder that
	// KUBEBUILDER_ASSETS names, which is looked at only then.
	Kubernetes string

	// Offline uses no network: what isn't there is built from the modules in Go's module cache.
	Offline bool

	// Log takes lines about what is going on, such as a build of minutes; nil drops them.
	Log io.Writer
}

// opened is a Supply whose version, folders and source are known.
type opened struct {
	Supply
	version, folder, foreign string // foreign is "" where that of KUBEBUILDER_ASSETS doesn't count
	from                     *source
}

func (s Supply) open() (o opened, err error) {
	if s.Log == nil {
		s.Log = io.Discard
	}
	o.Supply = s
	if o.version, err = ResolveKubernetes(s.Kubernetes); err != nil {
		return o, err
	}
	if o.folder, err = folderOf(o.version); err != nil {
		return o, err
	}
	if s.Kubernetes == "" {
		o.foreign = foreignFolder(o.folder)
	}
	o.from, err = openSource(s.Offline)
	return o, err
}

// Provide returns the paths of binaries in the order of their names, and makes those that are nowhere: they are
// downloaded, or built from the modules that are packed into this program.
//
// kwok can't be had so: its module isn't packed.
func (s Supply) Provide(ctx context.Context, names ...string) ([]string, error) {
	o, err := s.open()
	if err != nil {
		return nil, err
	}
	all := binaries(o.version)
	paths := make([]string, len(names))
	var missing []Binary
	for i, name := range names {
		if paths[i], err = findIn(o.folder, o.foreign, name); err == nil {
			continue
		}
		at := slices.IndexFunc(all, func(b Binary) bool { return b.Name == name && name != Kwok })
		if at < 0 {
			return nil, err
		}
		missing = append(missing, all[at])
	}
	if len(missing) == 0 {
		return paths, nil
	}
	scratch, err := os.MkdirTemp("", "nodesim-controlplane-")
	if err != nil {
		return nil, fmt.Errorf("build the control plane: %w", err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays are a few small files in the folder for temporary ones
	modules, err := unpack(scratch)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "controlplane: no %s yet, wanted in %s; the first time takes a while, the next none\n", namesOf(missing), o.folder)
	if err := o.make(ctx, modules, missing); err != nil {
		return nil, err
	}
	for i, name := range names {
		if paths[i], err = findIn(o.folder, o.foreign, name); err != nil {
			return nil, err
		}
	}
	return paths, nil
}
