package assets

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"os"
)

// packed are the modules of test/controlplane without kwok, one for each minor of Kubernetes, for a nodesim without its repository: go:embed reaches into no
// nested module. A test checks it against the folder.
//
//go:embed source.zip
var packed []byte

// unpack writes the module into a new folder below parent, which it returns.
func unpack(parent string) (string, error) {
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return "", fmt.Errorf("unpack the control plane's module: %w", err)
	}
	folder, err := os.MkdirTemp(parent, "module-")
	if err != nil {
		return "", fmt.Errorf("unpack the control plane's module: %w", err)
	}
	if err := os.CopyFS(folder, archive); err != nil {
		return "", fmt.Errorf("unpack the control plane's module: %w", err)
	}
	return folder, nil
}
