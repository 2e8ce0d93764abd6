package assets

import (
	"os"
	"strings"
	"testing"
)

// The constants are the versions that test/controlplane builds: nothing else ties the folder's name to its contents.
func TestVersionsAreThoseOfTheModules(t *testing.T) {
	all := map[string][]string{
		"go.mod": {
			"\tk8s.io/kubernetes v" + KubernetesVersion,
			"go.etcd.io/etcd/server/v3 v" + EtcdVersion,
			"\tk8s.io/client-go => k8s.io/client-go v0" + strings.TrimPrefix(KubernetesVersion, "1"),
		},
		"kwok/go.mod": {"sigs.k8s.io/kwok v" + KwokVersion},
	}
	for _, v := range KubernetesVersions() {
		if v != KubernetesVersion {
			all[minorOf(v)+"/go.mod"] = []string{
				"\tk8s.io/kubernetes v" + v,
				"\tk8s.io/client-go => k8s.io/client-go v0" + strings.TrimPrefix(v, "1"),
			}
		}
	}
	for file, wants := range all {
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

func TestResolveKubernetes(t *testing.T) {
	for named, want := range map[string]string{"": KubernetesVersion, "1.36": "1.36.3", "v1.36.3": "1.36.3", "v1.37": "1.37.1", "1.34.3": "1.34.3"} {
		if got, err := ResolveKubernetes(named); got != want || err != nil {
			t.Errorf("%q: found %q, %v, want %s", named, got, err, want)
		}
	}
	for _, named := range []string{"1.3", "1.33", "1.36.4", "latest", "vv1.36", "1.36."} {
		_, err := ResolveKubernetes(named)
		if err == nil || !strings.Contains(err.Error(), `want one of 1.34, 1.35, 1.36, 1.37, which are 1.34.3, 1.35.1, 1.36.3, 1.37.1`) {
			t.Errorf("%q: found %v, want an error with all versions", named, err)
		}
	}
}
