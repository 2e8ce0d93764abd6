package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// states collects the state of a cluster at a moment from the files of a folder or an archive:
// of must-gather (oc adm inspect: cluster-scoped-resources/GROUP/RESOURCE/NAME.yaml and
// namespaces/NAMESPACE/GROUP/RESOURCE.yaml, pkg/cli/admin/inspect of openshift/oc), or of kubectl
// cluster-info dump (nodes.json, NAMESPACE/pods.json,
// k8s.io/kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go).
type states struct {
	kinds map[string]*kindState // by apiVersion and kind
	names []string              // of files, to say what was found
	bytes int64
	from  string // the format
}

type kindState struct {
	apiVersion, kind string
	objects          map[string][]byte // by namespace/name
	version          uint64            // the highest of a list
}

// kept are the resources that a roll is about, as files and folders are named after them.
var kept = map[string]bool{
	"nodes": true, "pods": true, "events": true, "poddisruptionbudgets": true, "nodeclaims": true, "machines": true,
}

// keptKinds are the kinds of kept: in a namespace that is named as one of these resources, all files have its name in
// their path, those of Secrets as well.
var keptKinds = map[string]bool{
	"Node": true, "Pod": true, "Event": true, "PodDisruptionBudget": true, "NodeClaim": true, "Machine": true,
}

// maxFile bounds a file, and maxState all of them: a list of all pods is in memory.
const (
	maxFile  = 512 << 20
	maxState = 2 << 30
)

func newStates() *states { return &states{kinds: map[string]*kindState{}} }

// wants reports whether a file has objects that are taken.
func (s *states) wants(name string) bool {
	if len(s.names) < 3 {
		s.names = append(s.names, name)
	}
	ext := path.Ext(name)
	if ext != ".yaml" && ext != ".yml" && ext != ".json" {
		return false
	}
	parts := strings.Split(strings.TrimSuffix(name, ext), "/")
	for i := len(parts) - 1; i >= 0 && i >= len(parts)-3; i-- { // pods/NAME/NAME.yaml
		if kept[parts[i]] {
			return true
		}
	}
	return false
}

// file takes in the objects of a file. One that can't be read is an error: half a state would look
// like a whole one.
func (s *states) file(name string, r io.Reader) error {
	raw, err := readAll(r, name, maxFile)
	if err != nil {
		return err
	}
	if s.bytes += int64(len(raw)); s.bytes > maxState {
		return tooLong("all files", maxState)
	}
	s.from = cmp.Or(s.from, "state that kubectl cluster-info dump has kept")
	if strings.Contains("/"+name, "/cluster-scoped-resources/") || strings.Contains("/"+name, "/namespaces/") {
		s.from = "state that must-gather has kept"
	}
	if text := bytes.TrimLeft(raw, " \t\r\n\ufeff"); bytes.HasPrefix(text, []byte("{")) {
		object, err := rawjson.Compact(nil, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.take(object, "", "")
		return nil
	}
	for doc := range bytes.SplitSeq(raw, []byte("\n---")) {
		if len(bytes.TrimSpace(bytes.TrimLeft(doc, "-"))) == 0 {
			continue
		}
		object, err := YAMLToJSON(doc)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.take(object, "", "")
	}
	return nil
}

// take keeps an object, or those of a list. Of one that is there twice the newer state counts.
func (s *states) take(object []byte, kind, apiVersion string) {
	kind, apiVersion = cmp.Or(rawjson.Text(object, "kind"), kind), cmp.Or(rawjson.Text(object, "apiVersion"), apiVersion)
	if items := rawjson.Get(object, "items"); items != nil && strings.HasSuffix(kind, "List") {
		kind = strings.TrimSuffix(kind, "List")
		if keptKinds[kind] {
			k := s.kind(kind, apiVersion)
			k.version = max(k.version, version(object))
		}
		for item := range rawjson.Elements(items) {
			s.take(item, kind, apiVersion)
		}
		return
	}
	name := nameOf(object)
	if !keptKinds[kind] || apiVersion == "" || strings.HasSuffix(name, "/") || rawjson.Text(object, "metadata", "resourceVersion") == "" {
		return
	}
	if rawjson.Get(object, "kind") == nil {
		object = rawjson.Apply(nil, fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q}`, kind, apiVersion), object)
	}
	k := s.kind(kind, apiVersion)
	if was := k.objects[name]; was == nil || version(was) < version(object) {
		k.objects[name] = bytes.Clone(object)
	}
}

func (s *states) kind(kind, apiVersion string) *kindState {
	key := apiVersion + " " + kind
	if s.kinds[key] == nil {
		s.kinds[key] = &kindState{apiVersion: apiVersion, kind: kind, objects: map[string][]byte{}}
	}
	return s.kinds[key]
}

// taken is where the lists were taken, as a member of metadata, where one of them says so, and not below what is in them.
func (k *kindState) taken() string {
	if k.version == 0 {
		return ""
	}
	for _, o := range k.objects {
		k.version = max(k.version, version(o))
	}
	return fmt.Sprintf(`"resourceVersion":"%d",`, k.version)
}

func version(object []byte) uint64 {
	n, _ := strconv.ParseUint(rawjson.Text(object, "metadata", "resourceVersion"), 10, 64) // 0 is below all
	return n
}

// write writes the objects of each kind as what a watch begins with.
func (s *states) write(w *writer) error {
	empty := true
	for _, k := range s.kinds {
		empty = empty && len(k.objects) == 0
	}
	if empty {
		found := "an empty one"
		if len(s.names) > 0 {
			found = strings.Join(s.names, ", ")
		}
		return errors.New("folder or archive: found " + found + ": want what must-gather or kubectl cluster-info dump has kept, or an archive of k8shark")
	}
	w.dump.Format = s.from
	w.leave("everything but one moment: nothing tells what happened before and afterwards")
	for _, key := range slices.Sorted(maps.Keys(s.kinds)) {
		k := s.kinds[key]
		newestFirst := func(a, b string) int { // so that an import takes none for a change that came after the list
			return cmp.Or(cmp.Compare(version(k.objects[b]), version(k.objects[a])), strings.Compare(a, b))
		}
		for _, name := range slices.SortedFunc(maps.Keys(k.objects), newestFirst) { // on lines of their own: one List could be longer than an import reads
			_, _ = fmt.Fprintf(w.out, `{"type":"ADDED","object":%s}`+"\n", k.objects[name])
		}
		_, _ = fmt.Fprintf(w.out, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{%s"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n",
			k.kind, k.apiVersion, k.taken())
	}
	return nil
}
