package timeline_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/timeline"
)

const roll = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: one-node
  start: "2026-11-20T22:21:09Z"
resources:
  - {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"ip-10-0-1-10","uid":"4dc1","rv":"481","object":{"metadata":{"labels":{"pool":"blue"}},"spec":{}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"512"}
--- {"at":"30s","type":"ADDED","resource":"nodes","name":"ip-10-0-1-11","uid":"90fa","rv":"520","object":{"metadata":{"labels":{"pool":"green"}},"spec":{}}}
--- {"at":"42.5s","type":"MODIFIED","resource":"nodes","name":"ip-10-0-1-10","rv":"530","patch":{"spec":{"unschedulable":true}}}
--- {"at":"300s","type":"DELETED","resource":"nodes","name":"ip-10-0-1-10","rv":"560"}
--- {"at":"310s","type":"END","events":6}
`

func open() *timeline.Reader {
	r, err := timeline.NewReader(strings.NewReader(roll), timeline.Name("roll.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// show transforms the tape above and prints what comes of it.
func show(t timeline.Transform) {
	r := open()
	h, events := t(r.Header(), r.All())
	fmt.Println("start", h.Metadata.Start.Format(time.TimeOnly))
	for ev, err := range events {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(timeline.FormatAt(ev.At), ev.Type, ev.Name, ev.RV)
	}
}

func ExampleReader() {
	r := open()
	fmt.Println(r.Header().Metadata.Name, r.Header().Resources[0])
	for ev, err := range r.All() {
		if err != nil {
			log.Fatal(err) // timeline roll.yaml: line 12: …
		}
		if ev.Type == timeline.Modified {
			fmt.Printf("%s %s\n", timeline.FormatAt(ev.At), ev.Object)
		}
	}
	fmt.Println(r.Events(), "events, complete:", r.Complete())
	// Output:
	// one-node nodes
	// 42.5s {"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-10","uid":"4dc1","resourceVersion":"530","labels":{"pool":"blue"}},"spec":{"unschedulable":true}}
	// 6 events, complete: true
}

func ExampleWriter() {
	w, err := timeline.NewWriter(os.Stdout, timeline.Header{
		Metadata:  timeline.Metadata{Name: "cordon"},
		Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	node := func(rv, spec string) []byte {
		return []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-10","uid":"4dc1","resourceVersion":"` + rv + `"},"spec":` + spec + `}`)
	}
	for _, ev := range []timeline.Event{
		{Type: timeline.Added, Resource: "nodes", Object: node("481", `{}`)},
		{Type: timeline.Sync, Resource: "nodes", RV: "512"},
		{At: 12500 * time.Millisecond, Type: timeline.Modified, Resource: "nodes", Object: node("530", `{"unschedulable":true}`)},
		{At: 95 * time.Second, Type: timeline.End},
	} {
		if err := w.Write(ev); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// apiVersion: nodesim.dev/v1
	// kind: Timeline
	// metadata:
	//   name: cordon
	// resources:
	//   - {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
	// --- {"at":"0s","type":"ADDED","resource":"nodes","name":"ip-10-0-1-10","uid":"4dc1","rv":"481","object":{"metadata":{},"spec":{}}}
	// --- {"at":"0s","type":"SYNC","resource":"nodes","rv":"512"}
	// --- {"at":"12.5s","type":"MODIFIED","resource":"nodes","name":"ip-10-0-1-10","rv":"530","patch":{"spec":{"unschedulable":true}}}
	// --- {"at":"95s","type":"END","events":4}
}

func ExampleAppend() {
	dir, err := os.MkdirTemp("", "tape")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "roll.yaml")
	if err := os.WriteFile(name, []byte(roll+`--- {"at":"31`), 0o600); err != nil {
		log.Fatal(err)
	}
	// After END nothing may follow, and END is cut off for more to come.
	w, resume, err := timeline.Append(name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("dropped:", resume.Dropped)
	fmt.Println("watch nodes from", resume.RV["nodes"], "at", timeline.FormatAt(resume.At))
	for ev := range resume.Objects() {
		fmt.Println("alive:", ev.Name)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// dropped: a last line without its end
	// watch nodes from 560 at 300s
	// alive: ip-10-0-1-11
}

func ExampleWindow() {
	show(timeline.Window(40*time.Second, 60*time.Second))
	// Output:
	// start 22:21:49
	// 0s ADDED ip-10-0-1-10 481
	// 0s ADDED ip-10-0-1-11 520
	// 0s SYNC  520
	// 2.5s MODIFIED ip-10-0-1-10 530
	// 20s END
}

func ExampleSpeed() {
	show(timeline.Speed(20))
	// Output:
	// start 22:21:09
	// 0s ADDED ip-10-0-1-10 481
	// 0s SYNC  512
	// 1.5s ADDED ip-10-0-1-11 520
	// 2.125s MODIFIED ip-10-0-1-10 530
	// 15s DELETED ip-10-0-1-10 560
	// 15.5s END
}

func ExampleIdleLimit() {
	show(timeline.IdleLimit(15 * time.Second))
	// Output:
	// start 22:21:09
	// 0s ADDED ip-10-0-1-10 481
	// 0s SYNC  512
	// 15s ADDED ip-10-0-1-11 520
	// 27.5s MODIFIED ip-10-0-1-10 530
	// 42.5s DELETED ip-10-0-1-10 560
	// 52.5s END
}

func ExampleIdleMap() {
	m := timeline.NewIdleMap(15 * time.Second)
	for ev, err := range open().All() {
		if err != nil {
			log.Fatal(err)
		}
		m.Pass(ev.At)
	}
	fmt.Println("300s of the tape is played at", m.Played(300*time.Second))
	fmt.Println("after 20s one is at", m.At(20*time.Second))
	// Output:
	// 300s of the tape is played at 42.5s
	// after 20s one is at 35s
}

func ExampleFilter() {
	green, err := labels.Parse("pool=green")
	if err != nil {
		log.Fatal(err)
	}
	show(timeline.Filter(timeline.Selection{Resources: []string{"nodes"}, Labels: green}))
	// Output:
	// start 22:21:09
	// 0s SYNC  512
	// 30s ADDED ip-10-0-1-11 520
	// 310s END
}

func ExampleRebase() {
	show(timeline.Chain(
		timeline.Window(300*time.Second, timeline.ToEnd),
		timeline.Rebase(time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC))))
	// Output:
	// start 12:00:00
	// 0s ADDED ip-10-0-1-10 530
	// 0s ADDED ip-10-0-1-11 520
	// 0s SYNC  530
	// 0s DELETED ip-10-0-1-10 560
	// 10s END
}

func ExampleMoveTimes() {
	pod := []byte(`{"metadata":{"name":"at-2026-11-20T22:00:00Z","creationTimestamp":"2026-11-20T22:00:00Z"},"status":{"startTime":"2026-11-20T22:00:03Z"}}`)
	moved, err := timeline.MoveTimes(timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods"}, pod,
		func(t time.Time) time.Time { return t.Add(24 * time.Hour) })
	fmt.Println(string(moved), err)
	// Output:
	// {"metadata":{"name":"at-2026-11-20T22:00:00Z","creationTimestamp":"2026-11-21T22:00:00Z"},"status":{"startTime":"2026-11-21T22:00:03Z"}} <nil>
}

func ExampleFormat() {
	var block bytes.Buffer
	if _, err := timeline.Format(&block, strings.NewReader(roll), timeline.StyleBlock); err != nil {
		log.Fatal(err)
	}
	_, cordon, _ := strings.Cut(block.String(), "at: 42.5s")
	cordon, _, _ = strings.Cut(cordon, "---")
	fmt.Print("at: 42.5s", cordon)
	_, err := timeline.Format(io.Discard, strings.NewReader("hello\n"), timeline.StyleJSON, timeline.Name("hello.yaml"))
	fmt.Println(err)
	// Output:
	// at: 42.5s
	// type: MODIFIED
	// resource: nodes
	// name: ip-10-0-1-10
	// rv: "530"
	// patch:
	//   spec:
	//     unschedulable: true
	// timeline hello.yaml: the end of the file within the header: want a header and "---" after it
}
