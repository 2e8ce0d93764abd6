// Command house prints what package lint finds in a folder and in its commits, one finding a line, and exits with 1 if
// there is any. With -dead it looks for what only tests use instead, and with -size it prints how much code there is.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/nodesim/nodesim/internal/lint"
)

func main() {
	size := flag.Bool("size", false, "print lines and packages instead")
	dead := flag.Bool("dead", false, "look for exported parts of internal packages that only tests use instead")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	found, err := run(context.Background(), root, *size, *dead)
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

func run(ctx context.Context, root string, size, dead bool) ([]lint.Finding, error) {
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
	found, err := lint.Tree(files)
	if err != nil {
		return nil, err
	}
	messages, err := lint.Commits(ctx, root)
	return append(found, messages...), err
}
