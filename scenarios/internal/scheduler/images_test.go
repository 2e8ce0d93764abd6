package scheduler_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
)

// A node that has a pod's image is better, as long as its status lists it.
func TestAPodGoesWhereItsImageIs(t *testing.T) {
	large := []kube.Image{{Names: []string{"registry.example/p@sha256:1", "registry.example/p:latest"}, Bytes: 900 << 20}}
	for _, test := range []struct {
		what, image string
		has         []kube.Image
		near        bool
	}{
		{"the image", "registry.example/p:latest", large, true},
		{"its tag is the usual one", "registry.example/p", large, true},
		{"another tag", "registry.example/p:2", large, false},
		{"a small image", "registry.example/p", []kube.Image{{Names: large[0].Names, Bytes: 20 << 20}}, false},
	} {
		placed := map[string]int{}
		for range 2 {
			c := placing.New(t, "1.36", false)
			for _, name := range []string{"n1", "n2", "n3"} {
				c.Node(name, "a")
			}
			c.API.UpdateNode(c.API.Node("n2"), func(n *kube.Node) { n.Images = test.has })
			// In the end n3 has none, and n1 never had: where the image doesn't count, all are alike.
			c.API.UpdateNode(c.API.Node("n3"), func(n *kube.Node) { n.Images = large })
			c.API.UpdateNode(c.API.Node("n3"), func(n *kube.Node) { n.Images = nil })
			for _, name := range []string{"p", "q", "r", "s", "t", "u"} {
				p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: name}, Phase: "Pending", Template: &kube.Template{Containers: []kube.ContainerSpec{{Name: "c", Image: test.image}}}}
				if err := c.API.CreatePod(p); err != nil {
					t.Fatal(err)
				}
				c.RunTo(t, c.Now()+time.Second)
				placed[p.NodeName]++
				c.API.DeletePod(p, 0)
			}
		}
		if is := placed["n2"] == 12; is != test.near {
			t.Errorf("%s: pods by node: %v, want all on n2: %t", test.what, placed, test.near)
		}
	}
}
