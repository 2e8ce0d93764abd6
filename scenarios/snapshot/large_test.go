package snapshot_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/scenarios/snapshot"
)

// TestAtMostBytes: a cluster whose file would be larger than a file may be is refused on one line that says what to do.
func TestAtMostBytes(t *testing.T) {
	m := shop(t)
	whole := len(written(t, m.file(snapshot.Options{At: read})))
	for most, refused := range map[int]bool{10 * whole: false, whole / 4: true} {
		t.Run(fmt.Sprint(refused), func(t *testing.T) {
			snapshot.AtMostBytes(t, most)
			var r snapshot.Reading
			for i, text := range m.raw() {
				kind := m.objects[i].GetObjectKind().GroupVersionKind()
				if err := r.Add(kind.GroupVersion().String(), kind.Kind, text); err != nil {
					t.Fatal(err)
				}
			}
			_, err := r.File(snapshot.Options{Name: "prod", At: read})
			want := fmt.Sprintf("found more than %d bytes of its scenario file: want at most as many, which is what a scenario may have; read a part of the cluster", most)
			switch tooMany := (*snapshot.TooManyError)(nil); {
			case !refused && err != nil:
				t.Errorf("found the error %v, want none", err)
			case refused && (!errors.As(err, &tooMany) || err.Error() != want):
				t.Errorf("found the error %v, want %s", err, want)
			}
		})
	}
}

// TestWhatIsKeptOfAPod: what a file doesn't say of a pod isn't kept, so that a million of them, each with 16 KiB of that, take less than four
// gigabytes. These are fewer, since each takes as much as one of a million.
func TestWhatIsKeptOfAPod(t *testing.T) {
	const (
		pods, most = 2000, 4 << 10
		pod        = `{"metadata":{"namespace":"shop","name":"web-6d4cf56db6-x%d","labels":{"app":"web","pod-template-hash":"6d4cf56db6"},` +
			`"annotations":{"note":%q},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-6d4cf56db6","uid":"u","controller":true}]},` +
			`"spec":{"nodeName":"n%d","containers":[{"name":"web","image":"web:1","env":[{"name":"A","value":%q}]}]},"status":{"phase":"Running"}}`
	)
	note := strings.Repeat("x", 8<<10)
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var r snapshot.Reading
	before := inUse()
	for i := range pods {
		if err := r.Add("v1", "Pod", fmt.Appendf(nil, pod, i, note, i%100, note)); err != nil {
			t.Fatal(err)
		}
	}
	each := (inUse() - before) / pods
	if err := r.Add("v1", "Node", []byte(`{"metadata":{"name":"n0"}}`)); err != nil {
		t.Fatal(err)
	}
	f, err := r.File(snapshot.Options{At: read}) // which also keeps what was read from being collected before
	if err != nil {
		t.Fatal(err)
	}
	if w := workloadOf(t, f, "shop/web"); len(w.Pods) != pods/100 {
		t.Errorf("found %d pods on n0, want %d", len(w.Pods), pods/100)
	}
	if each > most {
		t.Errorf("found %d bytes kept of a pod of %d, want at most %d", each, 2*len(note), most)
	}
}
