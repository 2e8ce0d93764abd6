package conformance

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Report is the result of a comparison.
type Report struct {
	Requests, Alike, Excepted int
	Rows                      []Row // one for each of what may differ
	New                       []Finding
}

// Row counts how often an entry was needed.
type Row struct {
	Excepted
	Hits int
}

// Finding is a request with the differences that nothing excepts.
type Finding struct {
	Request     Request
	Differences []Difference
	Failure     error // no answer could be had
}

// How many requests are under way at once. Those that take their time, because a server waits a second or three before
// it answers, are many.
const (
	quickAtOnce = 4
	slowAtOnce  = 192
)

// patience ends a request that hangs: the longest wait that is asked for is 16 s, and a list at a version from the future
// 3 s.
const patience = 10 * time.Minute

// CompareServers puts every request to both peers and compares the answers. What differs must be excepted by a row.
func CompareServers(ctx context.Context, w *Inventory, real, ours *Peer, requests []Request, rows []Excepted) (*Report, error) {
	compiled, err := compile(rows)
	if err != nil {
		return nil, err
	}
	report := &Report{Requests: len(requests)}
	for _, row := range rows {
		report.Rows = append(report.Rows, Row{Excepted: row})
	}
	findings := make([]Finding, len(requests))
	var all sync.WaitGroup
	quick, slow := make(chan int), make(chan int)
	worker := func(queue <-chan int) {
		defer all.Done()
		for i := range queue {
			findings[i] = one(ctx, w, real, ours, requests[i])
		}
	}
	for range quickAtOnce {
		all.Add(1)
		go worker(quick)
	}
	for range slowAtOnce {
		all.Add(1)
		go worker(slow)
	}
	all.Add(1)
	go func() {
		defer all.Done()
		defer close(slow)
		for i, r := range requests {
			if r.waits() {
				slow <- i
			}
		}
	}()
	for i, r := range requests {
		if !r.waits() {
			quick <- i
		}
	}
	close(quick)
	all.Wait()
	for _, f := range findings {
		report.add(compiled, f)
	}
	return report, nil
}

// waits reports whether an answer takes its time.
func (r Request) waits() bool {
	return r.Stream || r.Topic == "versions" || strings.Contains(r.Query, "resourceVersion=1000000000")
}

// one asks both. A watch whose end came before all of its events, or before the first, on a busy machine, is given more time.
func one(ctx context.Context, w *Inventory, real, ours *Peer, r Request) Finding {
	f := Finding{Request: r}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, seconds := range []string{"1", "4", "16"} {
		q := r
		q.Query = strings.Replace(r.Query, "timeoutSeconds=1", "timeoutSeconds="+seconds, 1)
		want, got, err := both(ctx, real, ours, q)
		if err != nil {
			f.Failure = err
			return f
		}
		f.Differences = Compare(r, want, got, w.newest(r))
		short := want.Status == http.StatusOK && len(want.Bodies) != len(got.Bodies)
		if !r.Stream || !short && !outOfTime(want) {
			return f
		}
	}
	return f
}

// outOfTime reports whether a watch ended before the server could begin it: kube-apiserver then answers with the context's
// error, or its watch cache sends that as the only event.
func outOfTime(a *Answer) bool {
	if len(a.Bodies) != 1 {
		return false
	}
	status, _ := a.Bodies[0].(map[string]any)
	if a.Status == http.StatusOK && status["type"] == "ERROR" {
		status, _ = status["object"].(map[string]any)
	}
	return status["kind"] == "Status" && status["message"] == context.DeadlineExceeded.Error()
}

// both asks both at once.
func both(ctx context.Context, real, ours *Peer, r Request) (want, got *Answer, err error) {
	var failure error
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		want, failure = real.Ask(ctx, r)
	}()
	got, err = ours.Ask(ctx, r)
	<-asked
	return want, got, errors.Join(failure, err)
}

// newest is the last version of the resource that a request is about.
func (w *Inventory) newest(r Request) (last uint64) {
	longest := 0
	if path, err := url.PathUnescape(r.Path); err == nil {
		r.Path = path
	}
	for i := range w.Resources {
		root, rest := w.Resources[i].Root(), w.Resources[i].Resource.Resource
		if !strings.HasPrefix(r.Path, root+"/") {
			continue
		}
		for j, part := range strings.Split(r.Path[len(root)+1:], "/") {
			if part == rest && j >= longest {
				longest, last = j, w.Resources[i].Last()
			}
		}
	}
	return last
}

func (r *Report) add(rows []row, f Finding) {
	switch {
	case f.Failure != nil:
		r.New = append(r.New, f)
		return
	case len(f.Differences) == 0:
		r.Alike++
		return
	}
	fresh := f
	fresh.Differences = nil
	for _, d := range f.Differences {
		if i := covers(rows, f.Request, d); i >= 0 {
			r.Rows[i].Hits++
		} else {
			fresh.Differences = append(fresh.Differences, d)
		}
	}
	if fresh.Differences == nil {
		r.Excepted++
	} else {
		r.New = append(r.New, fresh)
	}
}
