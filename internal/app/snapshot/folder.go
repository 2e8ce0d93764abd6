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
	r := snapshot.Reading{Now: s.Now}
	var n counts
	var without, links, other, strange []string
	left := int64(maxRead)
	files := root.FS()
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.Type()&fs.ModeSymlink != 0 && isFolder(files, name): // whatever its name ends in
			links = append(links, name)
			return nil
		case d.IsDir() || !ofObjects(name):
			return nil
		case !holds(name):
			other = append(other, name)
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			if info, err := fs.Stat(files, name); err != nil || !info.Mode().IsRegular() {
				links = append(links, name)
				return nil
			}
		case !d.Type().IsRegular():
			strange = append(strange, name)
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
		if kind := kindOf(name); kind != "" && some.all == 0 && some.lists > 0 { // kubectl's List of none doesn't say of what
			some.count(kind, 0)
		}
		n.add(some)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if some.all+some.lists == 0 {
			without = append(without, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.label(), err)
	}
	o := s.options()
	for _, skipped := range []struct {
		files     []string
		what, why string
	}{
		{without, "files that hold no object", "objects may be missing"},
		{links, "links that lead out of the folder, to a folder or to nothing", "not followed"},
		{strange, "files that aren't regular ones", "not opened"},
		{other, "files that aren't named after a kind that is read", "not opened"},
	} {
		if n := len(skipped.files); n > 0 {
			o.LeftOut = append(o.LeftOut, fmt.Sprintf("%s: %d%s; %s", skipped.what, n, s.first(skipped.files), skipped.why))
		}
	}
	return s.made(&r, n, o)
}

// first are the first names of files, which an anonymous file doesn't have.
func (s *Source) first(names []string) string {
	const shown = 3
	if len(s.Key) > 0 {
		return ""
	}
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(", %d more", more)
	}
	return " (" + text + ")"
}

// unpackedName is a file's name without the ending of a compression.
func unpackedName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// ofObjects reports whether a file's ending is one of objects, and its name none of a kind that no file has: kubectl cluster-info dump
// writes Services and Events of each namespace.
func ofObjects(name string) bool {
	base := unpackedName(path.Base(name))
	ext := path.Ext(base)
	switch strings.TrimSuffix(base, ext) {
	case "events", "services", "secrets", "configmaps":
		return false
	}
	return ext == ".yaml" || ext == ".yml" || ext == ".json"
}

// holds reports whether a file of objects is named after a resource that is read: pods.json, pods.yaml.gz, or pods/NAME/NAME.yaml. Files
// of other names, such as Secrets, aren't opened.
func holds(name string) bool {
	return kindOf(name) != "" || !strings.Contains(name, "/") // of a folder that somebody made, all files
}

// kindOf is the kind that a file of objects is named after, "" where it is named after none that is read.
func kindOf(name string) string {
	name = unpackedName(name)
	parts := strings.Split(strings.TrimSuffix(name, path.Ext(name)), "/")
	for _, part := range parts[max(0, len(parts)-3):] {
		for _, r := range snapshot.Resources() {
			switch {
			case part == r.Resource, part == "replication-controllers" && r.Resource == "replicationcontrollers",
				part == "pdb" && r.Resource == "poddisruptionbudgets": // as people ask kubectl for them
				return r.Kind
			}
		}
	}
	return ""
}

// isFolder reports whether a name, or what it links to within the folder, is a folder.
func isFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.IsDir()
}
