package writes

import (
	"encoding/base64"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/replay"
)

// recent are objects that were written last, as a write sees them: controllers
// write the same objects again and again, and to read a node takes longer than all
// else that a write of it does.
type recent map[*replay.Object]map[string]any

// mostRecent bounds them: each takes several times the memory of its text.
const mostRecent = 64

// remember keeps the object that was stored last. Nobody may change its content
// from here on.
func (w *write) remember(u unstructured.Unstructured) {
	d := w.handler
	if !w.kind.builtIn || w.kind.isDefinition() {
		return // it may be read in another version, or be changed in the same write
	}
	if len(d.recent) >= mostRecent {
		clear(d.recent)
	}
	if d.recent == nil {
		d.recent = recent{}
	}
	d.recent[w.newest] = u.Object
}

// known is an object that is kept, as a server reads it. It is the caller's own,
// and no version but its own is the object's.
func (w *write) known(o *replay.Object) (*object, error) {
	if content := w.handler.recent[o]; content != nil {
		return &object{unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}, o.ResourceVersion()}, nil
	}
	live, err := w.kind.parse(o, o.ResourceVersion())
	if err == nil {
		w.fill(w.kind, live.Unstructured)
	}
	return live, err
}

// fill fills in what a server does in every object that it reads, of a client or
// from its store, where what is written is kept: what then is stored is whole, as
// controllers expect it.
func (w *write) fill(k kind, u unstructured.Unstructured) {
	if w.keeps() && k.builtIn {
		kubedefaults.Fill(k.Group, k.Version, k.Kind, u.Object)
	}
	if w.keeps() && k.groupResource().String() == "secrets" {
		encode(u)
	}
}

// encode moves a Secret's stringData to its data (kubernetes/pkg/apis/core/v1/conversion.go,
// Convert_v1_Secret_To_core_Secret).
func encode(u unstructured.Unstructured) {
	plain, _ := u.Object["stringData"].(map[string]any)
	if len(plain) == 0 {
		return
	}
	data, _ := u.Object["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	for key, v := range plain {
		text, _ := v.(string)
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	u.Object["data"] = data
	delete(u.Object, "stringData")
}
