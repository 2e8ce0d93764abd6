package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A module is one that is linked for one of the targets at least.
type module struct {
	Path, Version string
	// Dir is where its files are, and Packages the folders of the packages that are linked.
	Dir      string
	Packages []string
	// Sum is the hash of go.sum, "h1:" and SHA-256 in base 64.
	Sum string
	// Needs are the paths of the modules that its packages import.
	Needs []string
	// Main is the program's own module. Ours is it too, and nodesim's, which the program of another folder is built with: their
	// version is the one that is released.
	Main, Ours bool

	// Licenses are SPDX identifiers, and Texts the files that have them and what goes with them.
	Licenses []string
	Texts    []string
}

// nodesim is the path of this project's module.
const nodesim = "github.com/nodesim/nodesim"

// standard is the path of Go's own library, which go version -m calls so.
const standard = "std"

// list asks the go command which modules are linked for the targets, such as linux/amd64; they are in the order of their paths.
func list(ctx context.Context, p program, targets []string) ([]module, error) {
	library, err := standardLibrary(ctx, p.root)
	if err != nil {
		return nil, err
	}
	all := map[string]*module{standard: &library}
	owner := map[string]string{}     // of a package
	imports := map[string][]string{} // of a module
	for _, target := range targets {
		goos, goarch, ok := strings.Cut(target, "/")
		if !ok {
			return nil, fmt.Errorf("target %q: want one such as linux/amd64", target)
		}
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Module", p.path)
		cmd.Dir = p.root
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("packages for %s: %w", target, err)
		}
		if err := gather(text, all, owner, imports); err != nil {
			return nil, fmt.Errorf("packages for %s: %w", target, err)
		}
	}
	var linked []module
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		needs := map[string]bool{}
		for _, imported := range imports[path] {
			if to := owner[imported]; to != path && to != "" {
				needs[to] = true
			}
		}
		m.Needs = slices.Sorted(maps.Keys(needs))
		slices.Sort(m.Packages)
		m.Packages = slices.Compact(m.Packages)
		linked = append(linked, *m)
	}
	return linked, nil
}

// standardLibrary is that of the toolchain that lists, which is the one that builds.
func standardLibrary(ctx context.Context, root string) (module, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOROOT")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return module{}, fmt.Errorf("go env: %w", err)
	}
	version, folder, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return module{Path: standard, Version: version, Dir: folder}, nil
}

// gather reads the objects that go list prints.
func gather(text []byte, all map[string]*module, owner map[string]string, imports map[string][]string) error {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath, Dir string
			Standard        bool
			Imports         []string
			Module          *struct {
				Path, Version, Dir, Sum, GoVersion string
				Main                               bool
				Replace                            *struct{ Path string }
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		m := module{Path: standard}
		switch {
		case p.Standard:
		case p.Module == nil:
			return fmt.Errorf("package %s: found no module: want one", p.ImportPath)
		case p.Module.Path == nodesim || p.Module.Main:
			m = module{Path: p.Module.Path, Dir: p.Module.Dir, Main: p.Module.Main, Ours: true}
		case p.Module.Replace != nil:
			return fmt.Errorf("module %s: found a replacement by %s: want the released module", p.Module.Path, p.Module.Replace.Path)
		default:
			m = module{Path: p.Module.Path, Version: p.Module.Version, Dir: p.Module.Dir, Sum: p.Module.Sum}
		}
		if all[m.Path] == nil {
			all[m.Path] = &m
		}
		if !p.Standard {
			all[m.Path].Packages = append(all[m.Path].Packages, p.Dir)
		}
		owner[p.ImportPath] = m.Path
		imports[m.Path] = append(imports[m.Path], p.Imports...)
	}
}
