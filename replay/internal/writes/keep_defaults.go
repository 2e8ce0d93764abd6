package writes

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// fill fills in what a server does in every object that it reads, of a client or
// from its store, where what is written is kept: what then is stored is whole, as
// controllers expect it.
func (w *write) fill(k kind, u unstructured.Unstructured) {
	if w.keeps() && k.builtIn {
		kubedefaults.Fill(k.Group, k.Version, k.Kind, u.Object)
	}
}
