package recorder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/timeline"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
)

// prepared is everything that a recording needs before its tape is made.
type prepared struct {
	header   timeline.Header
	start    time.Time
	ledger   *ledger
	lists    [][]*object // by track
	versions []string
	watches  []*watch
	sample   []labels.Set // of nodes, where their list is too long to be kept
}

// sampled returns the labels of nodes on a first page.
func sampled(t *track, raws [][]byte) (sample []labels.Set) {
	if t.res.String() != "nodes" {
		return nil
	}
	for _, raw := range raws {
		sample = append(sample, labelsOf(raw))
	}
	return sample
}

func (p *prepared) close() {
	for _, w := range p.watches {
		w.hangUp()
	}
}

// preflightTries is how often a list is tried before the recording begins,
// where the server is there but busy.
const preflightTries = 5

// prepare asks the cluster for everything, in an order that finds what can't
// work before anything is left behind: what it is, what it offers, the lists,
// and the watches, which are opened here so that a forbidden one is found.
func (r *Recorder) prepare(ctx context.Context, c *client, config *rest.Config) (*prepared, error) {
	cat, err := discover(config, c.http)
	if err != nil {
		return nil, unreachable(c, err)
	}
	id := c.identify(ctx, r.cfg.Warn)
	p := &prepared{}
	if p.header, err = r.header(cat, id); err != nil {
		return nil, err
	}
	s, err := newScope(r.cfg.Scope)
	if err != nil {
		return nil, err
	}
	p.ledger = newLedger(&p.header, s)
	for _, t := range p.ledger.tracks {
		p.watches = append(p.watches, &watch{rec: r, client: c, track: t, redactor: r.redactor()})
	}
	if r.cfg.Resume != nil {
		err = r.rejoin(ctx, p)
	} else {
		err = r.survey(ctx, p)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// survey lists everything, opens the watches and loads the ledger.
func (r *Recorder) survey(ctx context.Context, p *prepared) error {
	raws := make([][][]byte, len(p.watches))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i, w := range p.watches {
		g.Go(func() (err error) {
			if raws[i], err = w.preflight(gctx, p.ledger.scope != nil); err != nil {
				return err
			}
			err = w.connect(ctx) // of the recording: it outlives the group
			if expired(err) {
				w.lost, err = err.Error(), nil
			}
			if err != nil {
				err = refused("watch", w.track.res, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	p.lists = make([][]*object, len(p.watches))
	for i, w := range p.watches {
		if w.long {
			p.versions = append(p.versions, unread)
			p.sample, raws[i] = append(p.sample, sampled(w.track, raws[i])...), nil
			continue
		}
		p.versions = append(p.versions, w.version)
	}
	p.ledger.loadAll(p.lists, raws)
	p.start = r.clock.Now()
	if err := r.checkGroup(p); err != nil {
		return err
	}
	p.header.Metadata.Start = timeline.Time{Time: p.start.UTC().Round(0)}
	p.header.Scope.Provider = provider(p, r.cfg.Scope)
	return nil
}

// loadAll makes the lists known, Events last: what they are about decides
// about them.
func (l *ledger) loadAll(lists [][]*object, raws [][][]byte) {
	for _, events := range []bool{false, true} {
		for i, t := range l.tracks {
			if isEvent(t.res) != events {
				continue
			}
			for j, raw := range raws[i] {
				raws[i][j] = nil
				if events && l.scope != nil && l.scope.judge(raw) != inside {
					t.stats.OutOfScope++
					continue
				}
				lists[i] = append(lists[i], l.load(t, raw))
			}
			raws[i] = nil
		}
	}
}

func (r *Recorder) header(cat *catalog, id cluster) (timeline.Header, error) {
	if r.cfg.Resume != nil {
		h := *r.cfg.Out.Header()
		if was := h.Source.Cluster; was != "" && id.uid != "" && was != id.uid {
			return h, fmt.Errorf("append: the tape is of the cluster %s, and this is %s (UIDs of the namespace kube-system); choose the other cluster, or another file", was, id.uid)
		}
		return h, nil
	}
	resources, err := cat.find(r.cfg.Resources)
	if err != nil {
		return timeline.Header{}, err
	}
	return timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind,
		Metadata:  timeline.Metadata{Name: r.cfg.Name},
		Source:    timeline.Source{Kind: timeline.SourceRecording, Server: id.version, Cluster: id.uid, Times: timeline.TimesObserved},
		Scope:     timeline.Scope{Nodegroup: r.cfg.Scope.Nodegroup, Selector: r.cfg.Scope.Selector},
		Resources: resources, Redaction: r.redactor().Paths(),
	}, nil
}

func (r *Recorder) redactor() *timeline.Redactor {
	if r.cfg.Full {
		return timeline.FullRedaction()
	}
	return timeline.DefaultRedaction()
}

// checkGroup refuses a scope without nodes, which is a misspelt one in nearly
// all cases, and says what there is.
func (r *Recorder) checkGroup(p *prepared) error {
	if p.ledger.scope == nil {
		return nil
	}
	nodes := -1
	groups := map[string]bool{}
	for i, t := range p.ledger.tracks {
		if t.res.String() != "nodes" {
			continue
		}
		nodes = i
		for _, o := range p.lists[i] {
			if o.view.in {
				return nil
			}
			for _, key := range p.ledger.scope.keys {
				if v := labelsOf(o.raw)[key]; v != "" {
					groups[v] = true
				}
			}
		}
	}
	switch {
	case nodes < 0:
		return errors.New("scope: found no nodes among the resources, want them: a scope is a group of nodes")
	case r.cfg.Scope.Selector != "":
		return fmt.Errorf("selector %q: found no node that matches (of %d); `kubectl get nodes --show-labels` shows their labels", r.cfg.Scope.Selector, len(p.lists[nodes]))
	case len(groups) == 0:
		return fmt.Errorf("node group %q: found no node of any group (of %d nodes); want a label of %s on them, or use a selector", r.cfg.Scope.Nodegroup, len(p.lists[nodes]), strings.Join(p.ledger.scope.keys, ", "))
	}
	return fmt.Errorf("node group %q: found no such group; there are %s", r.cfg.Scope.Nodegroup, strings.Join(sorted(groups), ", "))
}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// provider finds out whose labels most nodes on the tape carry.
func provider(p *prepared, s Scope) string {
	nodes := p.sample
	for i, t := range p.ledger.tracks {
		if t.res.String() != "nodes" {
			continue
		}
		for _, o := range p.lists[i] {
			if p.ledger.scope == nil || o.view.in {
				nodes = append(nodes, labelsOf(o.raw))
			}
		}
	}
	best, most := "", 0
	for _, candidate := range s.Providers {
		n := 0
		for _, l := range nodes {
			if slices.ContainsFunc(candidate.Labels, func(key string) bool { return l[key] != "" }) {
				n++
			}
		}
		if n > most {
			best, most = candidate.Name, n
		}
	}
	if best == "" && len(s.Providers) == 1 {
		best = s.Providers[0].Name
	}
	return best
}

func unreachable(c *client, err error) error {
	server := c.base.Scheme + "://" + c.base.Host
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("API server %s: 401 Unauthorized: it doesn't accept the credentials; check the user of the kubeconfig's context", server)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("API server %s: 403 Forbidden to ask what it offers (discovery): %v", server, err)
	}
	return fmt.Errorf("API server %s: %v; want a cluster that answers: check the kubeconfig, its context and --server", server, shorter(err))
}

// refused explains a list or watch that the server doesn't allow.
func refused(verb string, r timeline.Resource, err error) error {
	var s *statusError
	if errors.As(err, &s) {
		switch s.Code {
		case http.StatusUnauthorized, http.StatusForbidden:
			all := ""
			if r.Namespaced {
				all = " --all-namespaces"
			}
			return fmt.Errorf("%s %s: %w; check with: kubectl auth can-i %s %s%s", verb, r, err, verb, r, all)
		}
	}
	return fmt.Errorf("%s %s: %w", verb, r, err)
}
