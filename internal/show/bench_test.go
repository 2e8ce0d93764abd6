package show_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/show"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// heartbeats is the tape of a hundred nodes whose kubelets post their status,
// and of the pods that come and go on them, one to four.
func heartbeats(tb testing.TB, events int) []byte {
	tb.Helper()
	var tape bytes.Buffer
	w, err := timeline.NewWriter(&tape, timeline.Header{
		Metadata: timeline.Metadata{Name: "heartbeats", Start: timeline.Time{Time: time.Unix(1e9, 0)}},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	write := func(ev timeline.Event) {
		if err := w.Write(ev); err != nil {
			tb.Fatal(err)
		}
	}
	var images strings.Builder
	for i := range 20 {
		fmt.Fprintf(&images, `{"names":["registry.example/image-%d:v1.2.3"],"sizeBytes":%d},`, i, 1000000+i)
	}
	node := func(i int, beat int) []byte {
		return fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-%d","uid":"n-%d","labels":{"eks.amazonaws.com/nodegroup":"a","eks.amazonaws.com/nodegroup-image":"ami-1"}},"spec":{"providerID":"aws:///a/i-%d"},"status":{"conditions":[`+
			`{"type":"MemoryPressure","status":"False","lastHeartbeatTime":"%s"},{"type":"Ready","status":"True","lastHeartbeatTime":"%[4]s","reason":"KubeletReady","message":"kubelet is posting ready status"}],"images":[%s]}}`,
			i, i, i, time.Unix(1e9+int64(beat), 0).UTC().Format(time.RFC3339), strings.TrimSuffix(images.String(), ","))
	}
	for i := range 100 {
		write(timeline.Event{Type: timeline.Added, Resource: "nodes", RV: strconv.Itoa(i + 1), Object: node(i, 0)})
	}
	write(timeline.Event{Type: timeline.Sync, Resource: "nodes", RV: "100"})
	write(timeline.Event{Type: timeline.Sync, Resource: "pods", RV: "100"})
	for n := 0; n < events; n++ {
		at, rv := time.Duration(n)*time.Millisecond, strconv.Itoa(n+200)
		if n%5 == 4 {
			typ := timeline.Added
			if n%10 == 9 {
				typ = timeline.Deleted
			}
			write(timeline.Event{At: at, Type: typ, Resource: "pods", RV: rv, Object: fmt.Appendf(nil,
				`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-%d","namespace":"shop","uid":"p-%[1]d","labels":{"app":"web"}},"spec":{"nodeName":"node-%d"},"status":{"phase":"Running"}}`, n/10, n%100)})
			continue
		}
		write(timeline.Event{At: at, Type: timeline.Modified, Resource: "nodes", RV: rv, Object: node(n%100, n)})
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return tape.Bytes()
}

// The limit is 150,000 events a second, from the tape's bytes to the feed's.
func BenchmarkReplayAtMaxIntoTheFeed(b *testing.B) {
	const events = 100_000
	text := heartbeats(b, events)
	b.SetBytes(int64(len(text)))
	b.ResetTimer()
	for b.Loop() {
		r, err := timeline.NewReader(bytes.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", "")
		if err != nil {
			b.Fatal(err)
		}
		feed := show.NewFeedWriter(io.Discard)
		if err := show.Through(b.Context(), r, show.NewDriver(show.NewView(r.Header(), o), feed)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// The limit is 200 ms from the start of the program to the first panel; this is
// the program's part of it, the tape's length included.
func BenchmarkFirstPanel(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		tape := show.File("../../cmd/nodesim/testdata/tapes/demo.yaml", nil)
		r, err := tape.Reader()
		if err != nil {
			b.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", "")
		if err != nil {
			b.Fatal(err)
		}
		t := show.Terminal{Out: first(cancel), Size: func() (int, int) { return 120, 40 }}
		err = show.OnTerminal(ctx, tape, r, show.NewDriver(show.NewView(r.Header(), o), nil), t)
		if !errors.Is(err, context.Canceled) {
			b.Fatal(err)
		}
	}
}

// first is a screen that ends everything with its first panel.
type first func()

func (f first) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
