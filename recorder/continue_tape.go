package recorder

import (
	"context"
	"fmt"
	"slices"

	"github.com/nodesim/nodesim/timeline"
)

// resumeConfig takes over what the tape says about itself, and refuses what
// contradicts it: one tape is recorded in one way.
func resumeConfig(cfg *Config) error {
	h := cfg.Out.Header()
	if h.Source.Kind != timeline.SourceRecording {
		return fmt.Errorf("append: the tape is of kind %q, want %q: only a recording can go on", h.Source.Kind, timeline.SourceRecording)
	}
	full := slices.Equal(h.Redaction, timeline.FullRedaction().Paths())
	if !full && !slices.Equal(h.Redaction, timeline.DefaultRedaction().Paths()) {
		return fmt.Errorf("append: the tape was redacted in a way that this version doesn't do; record into another file")
	}
	if cfg.Full && !full {
		return fmt.Errorf("append: the tape is redacted, want the same for what follows; leave --full out, or record into another file")
	}
	cfg.Full = full
	given, was := cfg.Scope, h.Scope
	if given.Nodegroup != "" && given.Nodegroup != was.Nodegroup || given.Selector != "" && given.Selector != was.Selector {
		return fmt.Errorf("append: scope %q, want the tape's %q; leave it out, or record into another file",
			given.Nodegroup+given.Selector, was.Nodegroup+was.Selector)
	}
	if given.Pods != "" && (given.Pods != was.Pods || given.Namespace != was.Namespace) {
		return fmt.Errorf("append: pods %q of namespace %q, want the tape's %q of %q; leave them out, or record into another file",
			given.Pods, given.Namespace, was.Pods, was.Namespace)
	}
	cfg.Scope.Nodegroup, cfg.Scope.Selector = was.Nodegroup, was.Selector
	cfg.Scope.Pods, cfg.Scope.Namespace = was.Pods, was.Namespace
	for _, name := range cfg.Resources {
		if _, ok := h.Lookup(name); !ok {
			return fmt.Errorf("append: resource %q is not on the tape; leave --resources out, or record into another file", name)
		}
	}
	return nil
}

// continueTape takes a tape up where it ends. Where the server still knows the
// version, nothing is listed and nothing is missing; else the watch begins
// with a GAP.
func (r *Recorder) continueTape(ctx context.Context, p *prepared) error {
	tracks := map[string]*resourceState{}
	for i, t := range p.sequencer.states {
		version := r.cfg.Resume.RV[t.key]
		t.read, t.settled, t.written, t.listed = version, version, version, true
		t.synced = r.cfg.Resume.At
		tracks[t.key] = t
		if p.watches[i].version = version; version == "" {
			p.watches[i].lost = "the tape ended inside of a list"
		}
	}
	for ev := range r.cfg.Resume.Objects() {
		t := tracks[ev.Resource]
		if t == nil {
			continue
		}
		o := p.sequencer.load(t, ev.Object)
		o.onTape, o.raw = true, nil
		t.stats.Objects++
		if p.sequencer.scope != nil {
			p.sequencer.scope.look(t, o, ev.Object)
		}
	}
	for _, w := range p.watches {
		if w.lost != "" {
			continue
		}
		if err := w.connect(ctx); expired(err) {
			w.lost = err.Error()
		} else if err != nil {
			return refused("watch", w.state.res, err)
		}
	}
	if p.sequencer.scope != nil {
		return r.seed(ctx, p)
	}
	return nil
}

// seed learns what was out of scope when the tape ended: it is on no tape,
// and may come into scope later. What has changed since then comes over the
// watches, so only what is as old as the tape's end counts.
func (r *Recorder) seed(ctx context.Context, p *prepared) error {
	for _, w := range p.watches {
		t := w.state
		if w.lost != "" || isEvent(t.res) {
			continue
		}
		items, _, err := w.list(ctx)
		if err != nil {
			return refused("list", t.res, err)
		}
		for _, raw := range items {
			id := identify(raw)
			if t.find(id) == nil && !newer(text(id.version), t.read) {
				if o := p.sequencer.load(t, raw); o.view.in && !o.queued {
					o.queued = true
					t.pendingEntries = append(t.pendingEntries, o)
				}
			}
		}
	}
	return nil
}
