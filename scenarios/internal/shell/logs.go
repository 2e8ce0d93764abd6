package shell

import (
	"context"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// timestamp is the form of a kubelet's times, RFC 3339 with all nine digits (k8s.io/cri-client, pkg/logs/logs.go).
const timestamp = "2006-01-02T15:04:05.000000000Z07:00"

// Logs is an api.ContainerLogsHandlerFunc.
func (s *Scripted) Logs(ctx context.Context, namespace, name, container string, o api.ContainerLogOpts) (io.ReadCloser, error) {
	pod, err := s.pod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	l, err := containerRunOf(pod, container, o, s.heartbeat())
	if err != nil {
		return nil, err
	}
	now := s.clock().Now()
	since := o.SinceTime
	if o.SinceSeconds > 0 {
		since = now.Add(-time.Duration(o.SinceSeconds) * time.Second)
	}
	r := &log{s: s, pod: pod, containerRun: l, options: o, since: since, limit: -1, said: map[string]bool{}}
	if o.LimitBytes > 0 {
		r.limit = o.LimitBytes
	}
	all := l.lines(0, now)
	for _, one := range all {
		r.pass(one)
	}
	if o.Tail > 0 || o.NoTail {
		all = all[max(0, len(all)-o.Tail):]
	}
	r.write(all)
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r, nil
}

// log reads a run line by line. Close may be called during a Read, which then ends.
type log struct {
	s            *Scripted
	pod          *corev1.Pod
	containerRun containerRun
	options      api.ContainerLogOpts
	since        time.Time
	limit        int // bytes that may still come, or -1

	ctx    context.Context
	cancel context.CancelFunc
	ahead  []byte          // written and not read
	said   map[string]bool // events that were written
	beat   int             // the last heartbeat that was
}

// Read waits, if the log is followed, for the next line; otherwise the end of what there was is the end.
func (l *log) Read(p []byte) (int, error) {
	for len(l.ahead) == 0 {
		if !l.options.Follow || l.limit == 0 || l.containerRun.over {
			return 0, io.EOF
		}
		if err := l.wait(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.ahead)
	l.ahead = l.ahead[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *log) Close() error {
	l.cancel()
	return nil
}

// wait lets time pass and writes what is new then.
func (l *log) wait() error {
	clock := l.s.clock()
	timer := clock.NewTimer(min(lookAgain, max(time.Millisecond, l.containerRun.heartbeatAt(l.beat+1).at.Sub(clock.Now()))))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	pod, err := l.s.pod(l.ctx, l.pod.Namespace, l.pod.Name)
	missing := notFound("")
	switch {
	case errors.As(err, &missing), err == nil && pod.UID != l.pod.UID:
		l.containerRun.over, l.containerRun.end = true, clock.Now() // gone without a word
	case err == nil:
		if now, err := containerRunOf(pod, l.containerRun.container, api.ContainerLogOpts{}, l.containerRun.heartbeat); err == nil {
			if !now.start.Equal(l.containerRun.start) { // restarted, and so this run is over
				if now, err = containerRunOf(pod, l.containerRun.container, api.ContainerLogOpts{Previous: true}, l.containerRun.heartbeat); err != nil {
					now = l.containerRun
					now.over, now.end = true, clock.Now()
				}
			}
			l.containerRun = now
		}
	}
	var fresh []line
	for _, one := range l.containerRun.lines(l.beat, clock.Now()) {
		if l.pass(one) {
			fresh = append(fresh, one)
		}
	}
	l.write(fresh)
	return nil
}

// pass notes a line as one that was, and says whether it is new.
func (l *log) pass(one line) bool {
	if one.beat > 0 {
		l.beat = max(l.beat, one.beat)
		return true
	}
	fresh := !l.said[one.text]
	l.said[one.text] = true
	return fresh
}

// write adds lines to what can be read, as far as the options want them.
func (l *log) write(lines []line) {
	for _, one := range lines {
		if one.at.Before(l.since) {
			continue
		}
		text := one.text + "\n"
		if l.options.Timestamps {
			text = one.at.UTC().Format(timestamp) + " " + text
		}
		if l.limit >= 0 {
			text = text[:min(len(text), l.limit)]
			l.limit -= len(text)
		}
		l.ahead = append(l.ahead, text...)
	}
}
