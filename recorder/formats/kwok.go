package formats

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/recorder/internal/strategic"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kwokStart stands for the moment in which a recording began: it keeps times only as distances
// from it (sigs.k8s.io/kwok, pkg/kwokctl/recording/time.go).
var kwokStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

var kwokTime = regexp.MustCompile(`\$\(time-offset-nanosecond (-?\d{1,18})\)`)

// kwokReader reads what kwokctl snapshot export --record writes: YAML documents, the objects that
// were there, and then a ResourcePatch for each change (pkg/kwokctl/snapshot/save.go and
// pkg/apis/action/v1alpha1 there). Objects have no resourceVersion.
type kwokReader struct {
	out    *writer
	start  time.Time
	based  bool              // a time as a distance was there
	states map[string][]byte // by group, resource and name
	begun  bool              // the first change was there
	kinds  [][2]string       // apiVersion and kind of what was there
	bad    int
}

func kwok(ctx context.Context, in io.Reader, w *writer) error {
	k := &kwokReader{out: w, start: kwokStart, states: map[string][]byte{}}
	n := 0
	torn, err := documents(in, func(line int, doc []byte) error {
		if n++; ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := k.document(doc); err != nil {
			return fmt.Errorf("document at line %d: %w", line, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.dump.Torn = torn
	if len(k.states) == 0 && !k.begun {
		return errors.New("found no object, want those of a recording")
	}
	if !k.begun && !k.based {
		return errors.New("found YAML objects without a ResourcePatch: want a recording of kwokctl; of a cluster's state what kubectl get … -o json prints")
	}
	k.begin()
	w.leave("resourceVersions and the time of day: a recording of kwokctl keeps neither; versions are counted, and it begins at %s", k.start.Format(time.RFC3339))
	if k.bad > 0 {
		w.leave("%s of objects that the recording doesn't have, or that couldn't be applied", phrase.Count(k.bad, "change"))
	}
	return nil
}

// absolute puts times in the place of distances. Those of most members are whole seconds, and are so
// again where the start is chosen after the first.
func (k *kwokReader) absolute(doc []byte) []byte {
	return kwokTime.ReplaceAllFunc(doc, func(s []byte) []byte {
		n, err := strconv.ParseInt(string(kwokTime.FindSubmatch(s)[1]), 10, 64)
		if err != nil {
			return s
		}
		if !k.based {
			k.based = true
			part := time.Duration(n) % time.Second
			k.start = k.start.Add(-part)
		}
		return []byte(k.start.Add(time.Duration(n)).Format(time.RFC3339Nano))
	})
}

func (k *kwokReader) document(doc []byte) error {
	object, err := YAMLToJSON(k.absolute(doc))
	if err != nil || object == nil {
		return err
	}
	if !rawjson.IsObject(object) {
		return fmt.Errorf("found %.60q, want an object", object)
	}
	if rawjson.Text(object, "kind") == "ResourcePatch" {
		if v := rawjson.Text(object, "apiVersion"); v != "action.kwok.x-k8s.io/v1alpha1" {
			return fmt.Errorf("found a ResourcePatch of %.60q, want action.kwok.x-k8s.io/v1alpha1", v)
		}
		return k.change(object)
	}
	return k.object(object)
}

// object is one that was there, or, as kubectl -o yaml prints them, a list of such.
func (k *kwokReader) object(object []byte) error {
	if items := rawjson.Get(object, "items"); items != nil {
		for item := range rawjson.Elements(items) {
			if err := k.object(bytes.Clone(item)); err != nil {
				return err
			}
		}
		return nil
	}
	apiVersion, kind := rawjson.Text(object, "apiVersion"), rawjson.Text(object, "kind")
	if kind == "" || apiVersion == "" || rawjson.Text(object, "metadata", "name") == "" {
		return fmt.Errorf("found %.60q, want an object with kind, apiVersion and name, or a ResourcePatch", object)
	}
	if k.begun {
		return fmt.Errorf("found a %s after the first ResourcePatch, want what was there before it", kind)
	}
	if key := [2]string{apiVersion, kind}; len(k.kinds) == 0 || k.kinds[len(k.kinds)-1] != key {
		k.kinds = append(k.kinds, key)
	}
	k.states[kwokKey(pluralOf(apiVersion, kind), nameOf(object))] = object
	k.out.event(k.start, "", "ADDED", k.out.counted(object))
	return nil
}

func kwokKey(r schema.GroupResource, name string) string { return r.String() + " " + name }

// pluralOf is the resource of a kind, as its name makes one guess.
func pluralOf(apiVersion, kind string) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return plural.GroupResource()
}

// begin ends the lists of what was there.
func (k *kwokReader) begin() {
	if k.begun {
		return
	}
	k.begun = true
	seen := map[[2]string]bool{}
	for _, key := range k.kinds {
		if !seen[key] {
			seen[key] = true
			k.out.listed(k.start, "", key[1], key[0], strconv.FormatUint(k.out.versions, 10))
		}
	}
}

// change is a ResourcePatch.
func (k *kwokReader) change(p []byte) error {
	k.begin()
	plural := rawjson.Text(p, "resource", "resource")
	name := rawjson.Text(p, "target", "namespace") + "/" + rawjson.Text(p, "target", "name")
	key := kwokKey(schema.GroupResource{Group: rawjson.Text(p, "resource", "group"), Resource: plural}, name)
	nanos, err := strconv.ParseInt(string(rawjson.Get(p, "durationNanosecond")), 10, 63)
	if err != nil || nanos < 0 || plural == "" {
		return fmt.Errorf("found durationNanosecond %.40q and resource %q, want both of a ResourcePatch", rawjson.Get(p, "durationNanosecond"), plural)
	}
	at := k.start.Add(time.Duration(nanos))
	template := rawjson.Get(p, "template")
	method := rawjson.Text(p, "method")
	if method == "create" {
		if kind := rawjson.Text(template, "kind"); kind == "" || nameOf(template) != name {
			return fmt.Errorf("create of %s %s: found %.60q, want the object", plural, name, template)
		}
		object := bytes.Clone(template)
		k.states[key] = object
		k.out.event(at, plural, "ADDED", k.out.counted(object))
		return nil
	}
	was := k.states[key]
	switch {
	case method != "patch" && method != "delete":
		return fmt.Errorf("method %.40q: want create, patch or delete", method)
	case was == nil:
		k.bad++
	case method == "patch":
		now, err := strategic.Apply(was, template)
		if err != nil {
			k.bad++
			return nil //nolint:nilerr // counted
		}
		k.states[key] = now
		k.out.event(at, plural, "MODIFIED", k.out.counted(now))
	default:
		delete(k.states, key)
		k.out.event(at, plural, "DELETED", k.out.counted(was))
	}
	return nil
}

// documents calls f for each document of a YAML stream. A last one that isn't ended by a line end is
// cut off.
func documents(in io.Reader, f func(line int, doc []byte) error) (torn int64, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	var doc []byte
	line, begin, whole := 0, 1, true
	for {
		part, err := r.ReadSlice('\n')
		if whole {
			line++
		}
		begins := whole
		whole = len(part) > 0 && part[len(part)-1] == '\n'
		if begins && whole && string(bytes.TrimRight(part, " \r\n")) == "---" {
			if len(doc) > 0 {
				if err := f(begin, doc); err != nil {
					return 0, err
				}
			}
			doc, begin = nil, line+1
			continue
		}
		if doc = append(doc, part...); len(doc) > maxDocument {
			return 0, fmt.Errorf("document at line %d: %w", begin, tooLong("document", maxDocument))
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			whole = false
		case errors.Is(err, io.EOF):
			if len(doc) > 0 && doc[len(doc)-1] != '\n' {
				return int64(len(doc)), nil
			}
			if len(bytes.TrimSpace(doc)) > 0 {
				return 0, f(begin, doc)
			}
			return 0, nil
		case err != nil:
			return 0, err
		}
	}
}

// maxDocument bounds a document: an object has at most 1.5 MiB in etcd, and YAML is longer.
const maxDocument = 16 << 20
