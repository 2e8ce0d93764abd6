package snapshot

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// folder reads what must-gather has left (cluster-scoped-resources/core/nodes/NAME.yaml and namespaces/NAMESPACE/apps/deployments.yaml;
// pkg/cli/admin/inspect of openshift/oc), or kubectl cluster-info dump (nodes.json, NAMESPACE/pods.json;
// k8s.io/kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go), or any folder of files that are named after what they hold.
func (s *Source) folder(ctx context.Context) (*spec.File, error) {
	root, err := os.OpenRoot(s.File) // links don't lead out of it
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	var r snapshot.Reading
	var n counts
	left := int64(maxRead)
	files := root.FS()
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !d.Type().IsRegular() || !holds(name):
			return nil
		}
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		text, err := whole(bufio.NewReader(f), left)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		left -= int64(len(text))
		some, err := add(ctx, &r, text)
		n.add(some)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label(), err)
	}
	return s.made(&r, n, s.options())
}

// holds reports whether a file is named after a resource that is read: pods.json, pods.yaml.gz, or pods/NAME/NAME.yaml. Files of other
// names, such as logs and Secrets, aren't opened.
func holds(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	ext := path.Ext(name)
	if ext != ".yaml" && ext != ".yml" && ext != ".json" {
		return false
	}
	parts := strings.Split(strings.TrimSuffix(name, ext), "/")
	for _, part := range parts[max(0, len(parts)-3):] {
		for _, r := range snapshot.Resources() {
			if part == r.Resource || part == "replication-controllers" && r.Resource == "replicationcontrollers" {
				return true
			}
		}
	}
	return len(parts) == 1 // of a folder that somebody made, all files
}
