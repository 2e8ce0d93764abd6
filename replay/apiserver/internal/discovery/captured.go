package discovery

//go:generate go test -count=1 -tags controlplane -run ^TestCapturedIsTheServers$ . -update

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/nodesim/nodesim/timeline"
)

//go:embed discovery.json.gz
var compressed []byte

// documents are what kube-apiserver 1.36 says of its own resources with objects when it serves all its APIs.
type documents struct {
	// Groups are in the order of /apis, after the core group.
	Groups []string `json:"groups"`
	// Resources are by "v1" or "policy/v1", and have the subresources that a replay may have.
	Resources map[string][]metav1.APIResource `json:"resources"`
}

// captured reads the documents, once.
var captured = sync.OnceValue(func() *documents {
	d, err := read(compressed)
	if err != nil {
		panic("discovery: the documents that this program was built with: " + err.Error())
	}
	return d
})

func read(compressed []byte) (*documents, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	d := &documents{}
	if err := json.NewDecoder(r).Decode(d); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return d, nil
}

// facts are those of a built-in resource. One in a version that 1.36 doesn't serve has those of the newest version, but
// for the hash of the version that is stored.
func (d *documents) facts(r timeline.Resource) (f facts, ok bool) {
	if f, ok = d.factsIn(r.APIVersion(), r.Resource); ok || !builtinGroup(r.Group) {
		return f, ok
	}
	newest := ""
	for of := range d.Resources {
		gv := strings.Split(of, "/")
		if len(gv) < 2 || gv[0] != r.Group || newest != "" && version.CompareKubeAwareVersionStrings(gv[1], newest) < 0 {
			continue
		}
		if older, has := d.factsIn(of, r.Resource); has {
			f, ok, newest = older, true, gv[1]
			f.resource.StorageVersionHash = ""
		}
	}
	return f, ok
}

func (d *documents) factsIn(groupVersion, plural string) (f facts, ok bool) {
	for _, entry := range d.Resources[groupVersion] {
		if entry.Name == plural {
			f.resource, ok = entry, true
		} else if strings.HasPrefix(entry.Name, plural+"/") {
			f.subresources = append(f.subresources, entry)
		}
	}
	return f, ok
}

// builtinGroup reports whether a group is one of kube-apiserver's own. The suffix k8s.io doesn't tell: that of
// snapshot.storage.k8s.io or metrics.k8s.io comes from elsewhere.
func builtinGroup(group string) bool { return slices.Contains(captured().Groups, group) }

// BuiltIn reports whether a group is one of kube-apiserver's own.
func BuiltIn(group string) bool { return builtinGroup(group) }

// compareGroups orders two groups as /apis lists them: the server's own in its order, then custom ones by name.
func compareGroups(a, b string) int {
	place := func(group string) int {
		if i := slices.Index(captured().Groups, group); i >= 0 {
			return i
		}
		return len(captured().Groups)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// compareVersions orders two versions of a group, the preferred one first: v2, v1, v1beta1. The priorities of
// kube-apiserver's own versions say the same.
func compareVersions(a, b string) int {
	return cmp.Or(version.CompareKubeAwareVersionStrings(b, a), cmp.Compare(a, b))
}
