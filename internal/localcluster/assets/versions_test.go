package assets

import (
	"os"
	"strings"
	"testing"
)

// The constants are the versions that test/controlplane builds: nothing else ties the folder's name to its contents.
func TestVersionsAreThoseOfTheModules(t *testing.T) {
	for file, wants := range map[string][]string{
		"go.mod": {
			"\tk8s.io/kubernetes v" + KubernetesVersion,
			"go.etcd.io/etcd/server/v3 v" + EtcdVersion,
			"\tk8s.io/client-go => k8s.io/client-go v0" + strings.TrimPrefix(KubernetesVersion, "1"),
		},
		"kwok/go.mod": {"sigs.k8s.io/kwok v" + KwokVersion},
	} {
		text, err := os.ReadFile("../../../test/controlplane/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want+"\n") && !strings.Contains(string(text), want+" // indirect\n") {
				t.Errorf("test/controlplane/%s: found no line %q", file, want)
			}
		}
	}
}
