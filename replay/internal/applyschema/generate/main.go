// Command generate writes the schema of client-go's applyconfigurations, as the module has it that test/newest/go.mod names,
// compressed into schema.yaml.gz of the folder that it is run in.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := exec.Command("go", "list", "-modfile=../../../test/newest/go.mod", "-f", "{{.Dir}}", "k8s.io/client-go/applyconfigurations").Output()
	if err != nil {
		return fmt.Errorf("find client-go's applyconfigurations: %w", err)
	}
	text, err := schemaOf(filepath.Join(strings.TrimSpace(string(dir)), "internal", "internal.go"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile("schema.yaml.gz", b.Bytes(), 0o644)
}

// schemaOf is the text of the variable schemaYAML, which is typed.YAMLObject(`…`).
func schemaOf(file string) (string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return "", err
	}
	found := f.Scope.Lookup("schemaYAML")
	if found == nil {
		return "", fmt.Errorf("%s: found no variable schemaYAML", file)
	}
	spec, ok := found.Decl.(*ast.ValueSpec)
	if !ok || len(spec.Values) != 1 {
		return "", fmt.Errorf("%s: schemaYAML: want one value", file)
	}
	call, ok := spec.Values[0].(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", fmt.Errorf("%s: schemaYAML: want a conversion of one text", file)
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", errors.New("schemaYAML: want a literal")
	}
	return strconv.Unquote(text.Value)
}
