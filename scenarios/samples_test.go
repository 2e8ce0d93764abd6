package scenarios_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/scenarios"
)

// A sample is a real object, or some Events, that somebody has published, and
// what of it a simulation has to show as well.
type sample struct {
	name, origin string
	story        string            // simulated, of sampleStories
	object       []string          // the facts that tell which object of the tape it is held against: the first that has all of them
	facts        string            // a line each: a field's path and value, or a path alone where only the field has to be there
	events       string            // a line each: type, reason, component and message, names replaced
	but          map[string]string // facts that differ, and why
}

// TestSimulationIsLikeSamples holds what the kubelet profile real simulates
// against published real objects: every fact of a sample agrees, or stands among
// the exceptions with its reason, which has to be needed.
func TestSimulationIsLikeSamples(t *testing.T) {
	agree, all, excepted := 0, 0, 0
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			objects := sampleObjects(t, s.story)
			found := map[string]string{}
			if s.facts != "" {
				i := slices.IndexFunc(objects, func(o map[string]string) bool {
					return !slices.ContainsFunc(s.object, func(f string) bool { return !has(o, f) })
				})
				if i < 0 {
					t.Fatalf("%s: there is no object with %v", s.story, s.object)
				}
				found = objects[i]
			}
			told := map[string]bool{}
			for _, o := range objects {
				if o["kind"] == "Event" {
					told[strings.TrimSpace(o["type"]+" "+o["reason"]+" "+o["source.component"]+o["reportingComponentOnly"]+" "+o["message"])] = true
				}
			}
			check := func(fact string, holds bool) {
				all++
				_, is := s.but[fact]
				switch {
				case holds && is:
					t.Errorf("%s agrees: want it removed from the exceptions", fact)
				case !holds && !is:
					path, _, _ := strings.Cut(fact, " = ")
					t.Errorf("%s: want %s, found %q", s.origin, fact, found[path])
				case is:
					excepted++
				default:
					agree++
				}
			}
			facts, events := lines(s.facts), lines(s.events)
			for _, f := range facts {
				check(f, has(found, f))
			}
			for _, e := range events {
				check(e, told[e])
			}
			for f := range s.but {
				if !slices.Contains(facts, f) && !slices.Contains(events, f) {
					t.Errorf("exception %s: there is no such fact", f)
				}
			}
		})
	}
	line := fmt.Sprintf("samples: %d of %d facts of %d published real objects agree with the kubelet profile real, %d are excepted with their reasons", agree, all, len(samples), excepted)
	t.Log(line)
	if err := simcheck.Tell("samples", line); err != nil {
		t.Error(err)
	}
}

func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// has reports whether an object has a field, with that value where one is given.
func has(object map[string]string, fact string) bool {
	path, want, valued := strings.Cut(fact+" ", " = ") // an empty value has nothing after its sign
	want = strings.TrimSpace(want)
	path = strings.TrimSpace(path)
	got, is := object[path]
	if !valued && !is {
		for p := range object { // a field that holds others
			if strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[") {
				return true
			}
		}
	}
	return is && (!valued || got == want)
}

// sampleObjects are all states of all objects of a story, in the tape's order,
// field by field. In the messages of Events, NODE stands for a node's name, POD
// and SET for a pod's and a ReplicaSet's.
func sampleObjects(t *testing.T, story string) []map[string]string {
	t.Helper()
	d, err := scenarios.Parse(story, []byte(sampleStories[story]))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	names := map[string]string{}
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if len(ev.Object) == 0 {
			continue
		}
		var whole any
		if err := json.Unmarshal(ev.Object, &whole); err != nil {
			t.Fatal(err)
		}
		o := map[string]string{}
		flatten("", whole, o)
		gather(o)
		switch ev.Resource {
		case "nodes":
			names[ev.Name] = "NODE"
		case "pods":
			names[ev.Name] = "POD"
			names[o["metadata.ownerReferences[0].name"]] = "SET"
		case "events":
			if o["source.component"] == "" {
				o["reportingComponentOnly"] = o["reportingComponent"]
			}
		}
		out = append(out, o)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var long []string
	for name := range names {
		long = append(long, name)
	}
	slices.SortFunc(long, func(a, b string) int { return len(b) - len(a) }) // a pod's name begins with its ReplicaSet's
	for _, o := range out {
		for _, name := range long {
			if name != "" && o["kind"] == "Event" {
				o["message"] = strings.ReplaceAll(o["message"], name, names[name])
			}
		}
	}
	return out
}

// flatten writes each field of an object under its path: status.conditions[0].type.
func flatten(path string, v any, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			flatten(strings.TrimPrefix(path+"."+k, "."), x, into)
		}
	case []any:
		for i, x := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), x, into)
		}
	case nil:
		into[path] = "null"
	default:
		into[path] = fmt.Sprint(v)
	}
}

// gather adds what a list says by its order, and what its parts say by their
// type: conditions, and condition.Ready.
func gather(o map[string]string) {
	var types, taints, addresses []string
	for i := range 40 {
		path := fmt.Sprintf("status.conditions[%d].", i)
		if kind := o[path+"type"]; kind != "" {
			types = append(types, kind)
			o["condition."+kind] = strings.TrimSpace(o[path+"status"] + " " + o[path+"reason"] + " " + o[path+"message"])
		}
		path = fmt.Sprintf("spec.taints[%d].", i)
		if key := o[path+"key"]; key != "" {
			taints = append(taints, key+":"+o[path+"effect"])
		}
		if kind := o[fmt.Sprintf("status.addresses[%d].type", i)]; kind != "" {
			addresses = append(addresses, kind)
		}
	}
	slices.Sort(taints) // which of two is added first is a race
	o["conditions"], o["taints"], o["addresses"] = strings.Join(types, " "), strings.Join(taints, " "), strings.Join(addresses, " ")
}
