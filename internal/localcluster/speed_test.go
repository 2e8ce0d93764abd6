package localcluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// The speed survives the way through a kubeconfig, and a copy that kubectl makes.
func TestSpeedInKubeconfig(t *testing.T) {
	c := ControlPlane{options: Options{Name: "demo", Speed: 30}}
	text, err := c.kubeconfigOf("nodesim-demo", &api.AuthInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		file, err := clientcmd.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		if speed, known := SpeedOf(file.Clusters["nodesim-demo"]); speed != 30 || !known {
			t.Errorf("found speed %v, %v, want 30 in\n%s", speed, known, text)
		}
		if text, err = clientcmd.Write(*file); err != nil {
			t.Fatal(err)
		}
	}
}

// What isn't one of ours, or says nonsense, has no speed.
func TestSpeedOfOthers(t *testing.T) {
	said := func(text string) *api.Cluster {
		return &api.Cluster{Extensions: map[string]runtime.Object{extension: &runtime.Unknown{Raw: []byte(text)}}}
	}
	for name, cluster := range map[string]*api.Cluster{
		"none": nil, "kind's": {Server: "https://127.0.0.1:6443"}, "no JSON": said("speed: 3"), "none said": said("{}"),
		"negative": said(`{"speed":-3}`), "too fast": said(`{"speed":1e300}`), "another type": said(`{"speed":"30x"}`),
	} {
		if speed, known := SpeedOf(cluster); known {
			t.Errorf("%s: found speed %v, want none", name, speed)
		}
	}
}
