package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// heartbeats is the tape of 100 nodes of two kilobytes that post status: the
// same as the figures that the README quotes.
func heartbeats(n int) []Event {
	var out []Event
	node := func(i, beat int) []byte {
		var b strings.Builder
		fmt.Fprintf(&b, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"ip-10-0-1-%d","uid":"uid-%d","resourceVersion":"%d","creationTimestamp":"2026-11-20T22:21:05Z","labels":{`, i, i, 1000+len(out))
		for l := range 18 {
			fmt.Fprintf(&b, `"label.example.com/number-%02d":"value-%d",`, l, l)
		}
		fmt.Fprintf(&b, `"kubernetes.io/hostname":"ip-10-0-1-%d"}},"spec":{"providerID":"aws:///us-east-1a/i-%d"},"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"58"},"allocatable":{"cpu":"8","memory":"15Gi","pods":"58"},"conditions":[`, i, i)
		at := time.Date(2026, 11, 20, 22, 21, 5+beat*10, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(&b, `{"type":"Ready","status":"True","lastHeartbeatTime":"%s","lastTransitionTime":"2026-11-20T22:21:05Z","reason":"KubeletReady","message":"kubelet is posting ready status"}`, at)
		b.WriteString(`],"nodeInfo":{"machineID":"ec2","kernelVersion":"6.1.158","osImage":"Amazon Linux 2023","containerRuntimeVersion":"containerd://1.7.27","kubeletVersion":"v1.33.4-eks-1","operatingSystem":"linux","architecture":"amd64"}}}`)
		return []byte(b.String())
	}
	for i := range n {
		typ := Modified
		if i < 100 {
			typ = Added
		}
		out = append(out, Event{At: time.Duration(i) * 1100 * time.Microsecond, Type: typ, Resource: "nodes", Object: node(i%100, i/100)})
	}
	return out
}

func benchRead(b *testing.B, opts ...ReadOption) {
	const n = 20000
	t := tape(b, heartbeats(n))
	b.ReportAllocs()
	b.ReportMetric(float64(len(t))/n, "B/event")
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(t), opts...)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

func BenchmarkReadLines(b *testing.B) { benchRead(b, Lines()) }
func BenchmarkReadWhole(b *testing.B) { benchRead(b) }

// The peers: the same lines by the general decoders, without putting objects together.
func BenchmarkPeerEncodingJSON(b *testing.B) {
	const n = 20000
	lines := bytes.Split(tape(b, heartbeats(n)), []byte("\n--- "))[1:]
	for b.Loop() {
		for _, l := range lines {
			var v map[string]any
			if err := json.Unmarshal(l, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

func BenchmarkPeerYAMLv3(b *testing.B) {
	const n = 2000
	t := tape(b, heartbeats(n))
	for b.Loop() {
		dec := yaml.NewDecoder(bytes.NewReader(t))
		for {
			var v map[string]any
			if err := dec.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

func BenchmarkWrite(b *testing.B) {
	const n = 20000
	events := heartbeats(n)
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewWriter(io.Discard, sampleHeader())
		if err != nil {
			b.Fatal(err)
		}
		writeAll(b, w, events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

func BenchmarkWriteZstd(b *testing.B) {
	const n = 20000
	events := heartbeats(n)
	var size int64
	for i := 0; b.Loop(); i++ {
		w, err := Create(fmt.Sprintf("%s/%d.yaml.zst", b.TempDir(), i), sampleHeader())
		if err != nil {
			b.Fatal(err)
		}
		for i, ev := range events {
			writeAll(b, w, []Event{ev})
			if i%900 == 899 { // as a recorder does once a second
				if err := w.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		size = w.Bytes()
	}
	b.ReportMetric(float64(size)/n, "B/event")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

// The limit is 50 ms.
func BenchmarkOpenGigabyte(b *testing.B) {
	name := tempFile(b, "big.yaml", []byte(head+added))
	if err := os.Truncate(name, gigabyte); err != nil { // the rest is a hole
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := Open(name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Beside reading whole objects, which is part of it.
func BenchmarkTransforms(b *testing.B) {
	const n = 20000
	t := tape(b, heartbeats(n))
	for b.Loop() {
		r := openBytes(b, t)
		_, events := Chain(Window(time.Second, ToEnd), IdleLimit(time.Second), Speed(20), Filter(Selection{Labels: selector(b, "kubernetes.io/hostname")}))(r.Header(), r.All())
		for _, err := range events {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

// Formatting is for people, and has no limit.
func BenchmarkFormatBlock(b *testing.B) {
	const n = 2000
	t := tape(b, heartbeats(n))
	for b.Loop() {
		if _, err := Format(io.Discard, bytes.NewReader(t), StyleBlock); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}
