package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Files reads every file of a repository that git knows or would add, by its name relative to root, with slashes.
func Files(ctx context.Context, root string) (map[string][]byte, error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", root, err)
	}
	files := map[string][]byte{}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted and not committed yet
		}
		if err != nil {
			return nil, err
		}
		files[file] = text
	}
	return files, nil
}

// Tree checks the files of a repository, as Files returns them, in the order of their names.
func Tree(files map[string][]byte) ([]Finding, error) {
	layout, err := ParseLayout(layoutText)
	if err != nil {
		return nil, err
	}
	code := sources(files)
	found, err := layout.Arrows(code)
	if err != nil {
		return nil, err
	}
	exists := func(name string) bool { _, ok := files[name]; return ok }
	for _, file := range sorted(files) {
		if _, ok := code[file]; ok && layout.Decider(folder(file)) {
			impure, err := Decider(file, files[file])
			if err != nil {
				return nil, err
			}
			found = append(found, impure...)
		}
		variables, err := Variables(file, files[file])
		if err != nil {
			return nil, err
		}
		found = append(found, variables...)
		if Prose(file) {
			found = append(found, Words(file, files[file], exists)...)
		}
	}
	return slices.Concat(found, Count(files).crowded(), numbers(files)), nil
}
