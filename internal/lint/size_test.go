package lint

import (
	"fmt"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	files := map[string][]byte{
		"a/a.go": []byte("package a\n\nvar x int\n"), "a/a_test.go": []byte("package a\n"), "README.md": []byte("x\n"),
		"test/controlplane/etcd/main.go": []byte("package main\n"), "b/testdata/x.go": []byte("package x\n"),
	}
	if got := Count(files); got.Lines != 3 || got.Packages != 1 || got.Files["a"] != 1 {
		t.Errorf("found %+v, want 3 lines in 1 package of 1 file", got)
	}
	for i := range MostFiles + 1 {
		files[fmt.Sprintf("crowd/%d.go", i)] = []byte("package crowd\n")
	}
	size := Count(files)
	if found := size.crowded(); len(found) != 1 || !strings.Contains(found[0].String(), fmt.Sprintf("crowd:1: found %d files", MostFiles+1)) {
		t.Errorf("found %v, want the crowded folder", found)
	}
	want := fmt.Sprintf("%d lines of Go without tests in 2 packages; the largest folder is crowd with %d files", MostFiles+4, MostFiles+1)
	if size.String() != want {
		t.Errorf("found %q, want %q", size, want)
	}
}
