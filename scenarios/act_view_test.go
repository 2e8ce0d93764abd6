package scenarios

import (
	"encoding/json"
	"fmt"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// CheckView compares what the actors see with the objects themselves, which list returns by resource: each is converted
// again and written as a tape has it.
func (a *Acting) CheckView(list func(resource string) [][]byte) error {
	store := a.sim.env.API
	want := map[string]string{}
	seen := map[string]string{}
	for _, n := range store.Nodes() {
		seen["nodes "+n.Name] = string(n.JSON())
	}
	for _, p := range store.Pods() {
		bare, t := *p, *p.Template
		t.Document, bare.Template = nil, &t
		seen["pods "+p.Namespace+"/"+p.Name] = string(bare.JSON())
	}
	for _, b := range store.Budgets() {
		seen["budgets "+b.Namespace+"/"+b.Name] = fields(b)
	}
	for _, resource := range []string{"nodes", "pods", "poddisruptionbudgets"} {
		for _, object := range list(resource) {
			r, _ := a.header.Lookup(resource)
			ev := timeline.Event{
				Type: timeline.Added, Resource: resource, Object: object,
				Namespace: rawjson.Text(object, "metadata", "namespace"), Name: rawjson.Text(object, "metadata", "name"),
			}
			// The same conversion, into a store of its own.
			b := &Acting{sim: &Simulation{}, header: a.header, written: a.written}
			env := *a.sim.env
			env.API = kube.New(kube.Config{Now: env.Now, Fail: env.Fail})
			b.sim.env = &env
			if _, err := b.view(r, &ev); err != nil {
				return err
			}
			switch resource {
			case "nodes":
				want["nodes "+ev.Name] = string(env.API.Node(ev.Name).JSON())
			case "pods":
				p := env.API.Pod(ev.Namespace, ev.Name)
				if own := store.Pod(ev.Namespace, ev.Name); own != nil {
					t := *p.Template
					t.Resizable = own.Template.Resizable
					p.Template = &t
				}
				want["pods "+ev.Namespace+"/"+ev.Name] = string(p.JSON())
			default:
				want["budgets "+ev.Namespace+"/"+ev.Name] = fields(env.API.Budget(ev.Namespace, ev.Name))
			}
		}
	}
	for name, text := range seen {
		if want[name] != text {
			return fmt.Errorf("%s: the actors see\n%s\nand the object says\n%s", name, text, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		return fmt.Errorf("%s: the actors don't see it", name)
	}
	return nil
}

// fields are what a tape shows of a budget, and more.
func fields(b *kube.Budget) string {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // plain data
	}
	return string(text)
}
