// Command house prints what package lint finds in a folder, one finding a line, and exits with 1 if there is any.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/nodesim/nodesim/internal/lint"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := lint.Tree(context.Background(), root)
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
