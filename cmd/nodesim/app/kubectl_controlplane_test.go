//go:build controlplane

package app

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

// TestKubectl checks the real program against the real kubectl, each story in a file
// below testdata/kubectl.
func TestKubectl(t *testing.T) {
	kubectl, err := assets.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	packaging, err := filepath.Abs(filepath.Join("..", "..", "..", "packaging")) // with what completes the plugin
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "kubectl"),
		UpdateScripts:       golden.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(kubectl)+string(filepath.ListSeparator)+packaging+string(filepath.ListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir) // kubectl keeps a cache there
			e.Setenv("KUBECONFIG", filepath.Join(e.WorkDir, "kc"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "waitfor": waitFor},
	})
}
