// Command house prints what package lint finds in a folder and in its commits, one finding a line, and exits with 1 if
// there is any. With -dead it looks for what only tests use instead, with -size it prints how much code there is, and with
// -api it writes what public packages export into the files that later runs compare with.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/nodesim/nodesim/internal/lint"
)

func main() {
	size := flag.Bool("size", false, "print lines and packages instead")
	dead := flag.Bool("dead", false, "look for exported parts of internal packages that only tests use instead")
	api := flag.Bool("api", false, "write what public packages export instead")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	found, err := run(context.Background(), root, *size, *dead, *api)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, size, dead, api bool) ([]lint.Finding, error) {
	if dead {
		return lint.Dead(ctx, root)
	}
	files, err := lint.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	if size {
		fmt.Println(lint.Count(files))
		return nil, nil
	}
	if api {
		return nil, write(root, files)
	}
	found, err := lint.Tree(files)
	if err != nil {
		return nil, err
	}
	incompatible, err := lint.API(files)
	if err != nil {
		return nil, err
	}
	undocumented, err := lint.Released(ctx, root, files)
	if err != nil {
		return nil, err
	}
	found = slices.Concat(found, incompatible, undocumented)
	messages, err := lint.Commits(ctx, root)
	return append(found, messages...), err
}

func write(root string, files map[string][]byte) error {
	baselines, err := lint.Baselines(files)
	if err != nil {
		return err
	}
	for name, text := range baselines {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
