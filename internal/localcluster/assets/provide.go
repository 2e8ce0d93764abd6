package assets

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
)

// Provide returns the paths of binaries in the order of their names, and builds those that are nowhere from the
// module that is packed into this program: KUBEBUILDER_ASSETS is looked at first, then our own folder. What is being
// built goes to log, a line at a time; the first time takes minutes.
//
// kwok isn't in the packed module.
func Provide(ctx context.Context, log io.Writer, names ...string) ([]string, error) {
	paths := make([]string, len(names))
	var missing []Binary
	for i, name := range names {
		path, err := Find(name)
		if err == nil {
			paths[i] = path
			continue
		}
		at := slices.IndexFunc(Binaries(), func(b Binary) bool { return b.Name == name && b.Module == "." })
		if at < 0 {
			return nil, err
		}
		missing = append(missing, Binaries()[at])
	}
	if len(missing) == 0 {
		return paths, nil
	}
	folder, err := Folder()
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "nodesim-controlplane-")
	if err != nil {
		return nil, fmt.Errorf("build the control plane: %w", err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what stays are a few small files in the folder for temporary ones
	source, err := unpack(scratch)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "controlplane: no %s yet: building from Go modules into %s; the first time takes some minutes, the next none\n",
		namesOf(missing), folder)
	if err := buildAll(ctx, source, folder, missing, log); err != nil {
		return nil, err
	}
	for i, name := range names {
		if paths[i] != "" {
			continue
		}
		if paths[i], err = Find(name); err != nil {
			return nil, err
		}
	}
	return paths, nil
}
