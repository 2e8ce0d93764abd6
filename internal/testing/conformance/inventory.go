package conformance

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// Inventory holds what there is to ask for.
type Inventory struct {
	Resources []Resource // in the order of the tape's header
	End       time.Time  // when the tape ends, by its clock
	Server    string     // version of the server that was recorded, v1.36.3
}

// Resource is one of them at the end of the tape, with its history.
type Resource struct {
	timeline.Resource
	Listed   uint64   // version of the initial list
	Versions []uint64 // of what happened since, ascending
	Live     []Object // in the order of their first events
	Gone     []Object
}

// Object is a name, with its labels.
type Object struct {
	Namespace, Name string
	Labels          [][2]string
}

// Path is where a server keeps the resource: /api/v1 or /apis/GROUP/VERSION, then the namespace if there is one.
func (r *Resource) Path(namespace string) string {
	p := r.Root()
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + r.Resource.Resource
}

// Root is the path of the resource's group and version.
func (r *Resource) Root() string {
	if r.Group == "" {
		return "/api/" + r.Version
	}
	return "/apis/" + r.Group + "/" + r.Version
}

// Last is the newest version of the resource on the tape.
func (r *Resource) Last() uint64 {
	if len(r.Versions) == 0 {
		return r.Listed
	}
	return r.Versions[len(r.Versions)-1]
}

// TakeInventory reads a tape to its end.
func TakeInventory(tape *timeline.Reader) (*Inventory, error) {
	h := tape.Header()
	w := &Inventory{Server: h.Source.Server}
	at := map[string]*Resource{}
	objects := map[string]map[string]*Object{}
	for _, r := range h.Resources {
		w.Resources = append(w.Resources, Resource{Resource: r})
	}
	for i := range w.Resources {
		key := h.Key(w.Resources[i].Resource)
		at[key], objects[key] = &w.Resources[i], map[string]*Object{}
	}
	var end time.Duration
	for {
		ev, err := tape.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		end = ev.At
		if r := at[ev.Resource]; r != nil {
			if err := r.take(ev, objects[ev.Resource]); err != nil {
				return nil, fmt.Errorf("survey the tape: %s of %s %s at %s: %w", ev.Type, ev.Resource, ev.Name, ev.At, err)
			}
		}
	}
	w.End = h.Metadata.Start.Add(end)
	for i := range w.Resources {
		slices.Sort(w.Resources[i].Versions)
		w.Resources[i].Versions = slices.Compact(w.Resources[i].Versions)
	}
	return w, nil
}

func (r *Resource) take(ev timeline.Event, names map[string]*Object) error {
	version, err := strconv.ParseUint(ev.RV, 10, 64)
	if err != nil {
		return err
	}
	name := ev.Namespace + "/" + ev.Name
	switch ev.Type {
	case timeline.Sync:
		if r.Listed == 0 {
			r.Listed = version
			return nil
		}
	case timeline.Added, timeline.Modified:
		i := slices.IndexFunc(r.Live, func(o Object) bool { return o.Namespace+"/"+o.Name == name })
		o := Object{Namespace: ev.Namespace, Name: ev.Name, Labels: labels(ev.Object)}
		if i < 0 {
			r.Live = append(r.Live, o)
		} else {
			r.Live[i] = o
		}
	case timeline.Deleted:
		r.Live = slices.DeleteFunc(r.Live, func(o Object) bool { return o.Namespace+"/"+o.Name == name })
		r.Gone = append(r.Gone, Object{Namespace: ev.Namespace, Name: ev.Name})
	default:
		return nil
	}
	if r.Listed > 0 && ev.Type != timeline.Sync {
		r.Versions = append(r.Versions, version)
	}
	return nil
}

func labels(object []byte) (all [][2]string) {
	for key, value := range rawjson.Members(rawjson.Get(object, "metadata", "labels")) {
		all = append(all, [2]string{string(key), strings.Trim(string(value), `"`)})
	}
	return all
}
