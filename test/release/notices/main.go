// Command notices writes what a release has to say of the modules that are linked into a program: LICENSES.txt, with the text of
// every licence, and NAME.cdx.json, the bill of materials in CycloneDX's JSON. It fails where a module has no licence that is
// known to allow that, so that none is shipped without; that alone is checked without -out, as make lint does. It reads the module
// cache and builds nothing; the same commit and toolchain give the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var p program
	flag.StringVar(&p.root, "root", "../..", "the folder of the program's module")
	flag.StringVar(&p.path, "package", "./cmd/nodesim", "the program's package, from there")
	flag.StringVar(&p.name, "name", "nodesim", "what the bill of materials is called after")
	version := flag.String("version", "", "the version that is released, such as v0.1.0")
	out := flag.String("out", "", "the folder to write to; without it nothing is written")
	flag.Parse()
	if err := run(context.Background(), p, *version, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// A program is what modules are linked into: a package of a module.
type program struct{ root, path, name string }

func run(ctx context.Context, p program, version, out string, targets []string) error {
	if len(targets) == 0 || (out == "") != (version == "") {
		return fmt.Errorf("found version %q, out %q and %d targets: want linux/amd64, or -version v0.1.0 -out DIR linux/amd64", version, out, len(targets))
	}
	linked, err := list(ctx, p, targets)
	if err != nil {
		return err
	}
	for i := range linked {
		if err := linked[i].license(); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	bom, err := billOfMaterials(version, linked)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "LICENSES.txt"), notice(linked), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, p.name+".cdx.json"), bom, 0o644)
}
