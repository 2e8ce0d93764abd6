package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// Live is what one roll of the cluster on a real control plane says of its plan: the real scheduler, eviction and controllers, on nodes
// whose machines and kubelets are simulated.
type Live struct {
	Speed float64  `json:"speed"`
	Late  Duration `json:"late"` // by how much this machine may have delayed each step of the roll
	Ends  bool     `json:"ends"`
	Why   string   `json:"why,omitempty"` // it doesn't end
	Took  Duration `json:"took"`
	// Longer counts the plan's runs that end, and end sooner: of a hundred, some fifty where the plan is good.
	Longer int     `json:"longer"`
	Checks []Check `json:"checks"`
}

// Check is one thing that plan and live run both tell.
type Check struct {
	Agrees  bool   `json:"agrees"`
	Unclear bool   `json:"unclear,omitempty"` // it doesn't agree, by no more than this machine may have delayed the live run
	What    string `json:"what"`
	Plan    string `json:"plan"`
	Live    string `json:"live"`
}

// Differs reports whether plan and live run contradict each other.
func (c *Check) Differs() bool { return !c.Agrees && !c.Unclear }

func (c *Check) word(agrees, unclear, differs string) string {
	switch {
	case c.Agrees:
		return agrees
	case c.Unclear:
		return unclear
	}
	return differs
}

// Agrees reports whether nothing in the live run contradicted the plan.
func (l *Live) Agrees() bool {
	return !slices.ContainsFunc(l.Checks, func(c Check) bool { return c.Differs() })
}

// often is the share of runs, in percent, from which on a live run in which something doesn't happen contradicts the plan. What
// happens in nine of ten runs is missing in each tenth live run, and that is as planned.
const often = 99

// A LiveRun is what is known of a live run beside its tape.
type LiveRun struct {
	Speed    float64
	Slowest  time.Duration // the wall time of its slowest write, 0 if it isn't known
	Paused   time.Duration // the wall time for which the scenario stood still
	Outcomes []string      // of its rolls, in their order: empty for one that is complete, else its error

	disks   int             // pods that have a volume
	members map[string]bool // nodes that have the same name in every run and in the live one
}

// chain is how many requests follow each other from the eviction of a pod until it is gone: the eviction, its status when its
// containers have ended, its deletion.
const chain = 3

// late is by how much this machine may have delayed one step of the roll, in the roll's time. Delays of the machine count by the speed of
// the run: a second at 15x is a quarter of a minute.
func (l *LiveRun) late() time.Duration {
	return time.Duration(chain * l.Speed * float64(l.Slowest))
}

// attachPoll is how long the attach-detach controller waits at least until it sees that a volume is attached, or detached, which no speed
// divides (pkg/volume/csi/csi_attacher.go, waitForVolumeAttachDetachStatusWithLister).
const attachPoll = 550 * time.Millisecond

// held is by how much the run's pauses and the waits for volumes may have delayed the whole roll, in the roll's time.
func (l *LiveRun) held() time.Duration {
	return time.Duration(l.Speed * float64(l.Paused+time.Duration(2*l.disks)*attachPoll))
}

// Hold holds the plan against the tape of a live run of its file, made with the same options. It fails where the tape can't be read.
func (p *Plan) Hold(f *scenarios.File, o Options, tape *timeline.Reader, run LiveRun) error {
	file, err := Prepare(f, o)
	if err != nil {
		return err
	}
	r, err := newRehearsal(file, nil)
	if err != nil {
		return err
	}
	h, events := timeline.Speed(1/run.Speed)(tape.Header(), tape.All())
	watched, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		return fmt.Errorf("plan: live run: %w", err)
	}
	watched.Pool, watched.Selector = "", nil // as in the runs
	reading, err := analysis.NewFold(h, analysis.Options{Options: watched})
	if err != nil {
		return fmt.Errorf("plan: live run: %w", err)
	}
	refused := disruptions{}
	for ev, err := range events {
		if err == nil {
			refused.take(&ev)
			err = reading.Add(ev)
		}
		if err != nil {
			return fmt.Errorf("plan: live run: %w", err)
		}
	}
	a, err := reading.Finish()
	if err != nil {
		return fmt.Errorf("plan: live run: %w", err)
	}
	is := r.outcome(file.Seed, a, run.Outcomes)
	is.disrupted(refused.blocks(a, r))
	is.pods(reading.Unready())
	for i := range file.Workloads {
		w := &file.Workloads[i]
		if w.Volume != nil {
			run.disks += w.Replicas
		}
		if w.Kind == spec.KindPod { // the live run has a Job in its place
			is.without("Job/" + w.Namespace + "/" + w.Name)
		}
	}
	run.members = map[string]bool{}
	for i := range file.Groups {
		for k := range file.Groups[i].Members {
			run.members[file.Groups[i].Members[k].Name] = true
		}
	}
	p.Live = p.compare(is, run)
	return nil
}

// compare is what an outcome says of the plan.
func (p *Plan) compare(is *outcome, run LiveRun) *Live {
	l := &Live{Speed: run.Speed, Late: Duration(run.late()), Ends: is.ended, Why: is.why, Took: Duration(is.took)}
	yes := map[bool]string{true: "yes", false: "no"}
	l.check(is.ended && p.Ends > 0 || !is.ended && p.Ends < p.Runs, "ends by itself", fmt.Sprintf("%d of %d runs", p.Ends, p.Runs), yes[is.ended])
	if w := p.Within; is.ended && w != nil {
		for _, took := range p.took {
			if took < is.took {
				l.Longer++
			}
		}
		c := l.check(is.took >= time.Duration(w.P5) && is.took <= time.Duration(w.P95), "duration",
			fmt.Sprintf("%s to %s (P5 to P95)", short(time.Duration(w.P5)), short(time.Duration(w.P95))),
			fmt.Sprintf("%s, longer than %d of %s", short(is.took), l.Longer, phrase.Count(len(p.took), "run")))
		if is.took > time.Duration(w.P95) && is.took <= time.Duration(w.P95+l.Late)+run.held() {
			c.excuse(run, 1, run.held())
		}
	}
	p.checkBlocks(is, l, run)
	p.checkPods(is, l)
	return l
}

// check adds a check; it may be changed until the next one.
func (l *Live) check(agrees bool, what, planned, live string) *Check {
	l.Checks = append(l.Checks, Check{Agrees: agrees, What: what, Plan: planned, Live: live})
	return &l.Checks[len(l.Checks)-1]
}

// excuse makes a check unclear, since this machine may have made the difference: it delayed so many waits, one after the other, and held
// the whole up for some time more.
func (c *Check) excuse(run LiveRun, waits int, held time.Duration) {
	c.Unclear = true
	also := ""
	if held > 0 {
		also = ", pauses and waits for volumes"
	}
	c.Live += fmt.Sprintf(" (up to %s of it may be this machine's: %d writes of %s%s at %gx)",
		short(time.Duration(waits)*run.late()+held), waits*chain, run.Slowest.Round(time.Millisecond), also, run.Speed)
}

func (p *Plan) checkBlocks(is *outcome, l *Live, run LiveRun) {
	seen := map[[2]string]bool{}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if isBare(b.Object) && b.Kind != disruptionBlocked { // of which Karpenter names the pod, live too
			continue
		}
		at := slices.IndexFunc(is.blocks, func(x blocked) bool { return x.kind == b.Kind && x.object == b.Object })
		seen[[2]string{b.Kind, b.Object}] = true
		switch planned := fmt.Sprintf("holds it up (%s) in %d of %d runs, on %s", b.Kind, b.Runs, p.Runs, b.onNodes.of("node")); {
		case at >= 0:
			is := &is.blocks[at]
			unlike := b.unlike(is.nodes, run.members)
			c := l.check(!b.onNodes.exclude(len(is.nodes)) && len(unlike) == 0, b.Object, planned,
				strings.Join(append([]string{fmt.Sprintf("held it up (%s) for %s, on %s", is.kind, short(is.held), phrase.Count(len(is.nodes), "node"))}, unlike...), ", "))
			if !c.Agrees && !is.stops && l.Late > 0 {
				c.excuse(run, 1, 0)
			}
		case b.Runs*100 >= p.Runs*often:
			l.check(false, b.Object, planned, fmt.Sprintf("didn't hold it up (%s)", b.Kind))
		}
	}
	for i := range is.blocks {
		if b := &is.blocks[i]; !seen[[2]string{b.kind, b.object}] {
			seen[[2]string{b.kind, b.object}] = true
			c := l.check(false, b.object, fmt.Sprintf("holds it up (%s) in no run", b.kind), fmt.Sprintf("held it up (%s) for %s", b.kind, short(b.held)))
			if waits := max(b.waits, 1); !b.stops && b.held-time.Duration(waits)*run.late() < b.least() {
				c.excuse(run, waits, 0)
			}
		}
	}
}

// runsPerName is how many runs there have to be for each member: among many members chance alone finds one that the runs and a live run
// tell differently. With so many that happens twice in a hundred live runs at most.
const runsPerName = 20

// unlike says of which members a live run's block contradicts the runs: it held up one that no run names, or not one that all name.
func (b *Block) unlike(on []string, members map[string]bool) (said []string) {
	if b.Runs < max(enough, runsPerName*len(members)) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch held := slices.Contains(on, name); {
		case held && b.onNode[name] == 0:
			said = append(said, "on "+name+" as in no run")
		case !held && b.onNode[name] == b.Runs:
			said = append(said, "not on "+name+" as in each run")
		}
	}
	return said
}

// isBare reports whether a workload is a pod without a controller, which a live run hasn't.
func isBare(workload string) bool { return strings.HasPrefix(workload, "Pod/") }

func (p *Plan) checkPods(is *outcome, l *Live) {
	seen := map[string]bool{}
	live := countUnready([]*outcome{is})
	for i := range p.WontRun {
		w := &p.WontRun[i]
		at := slices.IndexFunc(is.unready, func(x unready) bool { return x.workload == w.Workload })
		if seen[w.Workload] || isBare(w.Workload) {
			continue
		}
		seen[w.Workload] = true
		of := p.unready[w.Workload]
		switch planned := fmt.Sprintf("%s won't run in %d of %d runs: %s", of.of("pod"), of.runs, p.Runs, w.Message); {
		case at >= 0:
			pods := live[w.Workload].most
			l.check(!of.exclude(pods), w.Workload, planned, fmt.Sprintf("%s won't run: %s", phrase.Count(pods, "pod"), is.unready[at].message))
		case of.runs*100 >= p.Runs*often:
			l.check(false, w.Workload, planned, "all of its pods run")
		}
	}
	for i := range is.unready {
		if u := &is.unready[i]; !seen[u.workload] {
			seen[u.workload] = true
			l.check(false, u.workload, "all of its pods run", fmt.Sprintf("%s won't: %s", phrase.Count(live[u.workload].most, "pod"), u.message))
		}
	}
}

// live writes what the live run said.
func (t *text) live(l *Live) {
	if l == nil {
		return
	}
	t.section("LIVE")
	t.say("", l.headline())
	for _, c := range l.Checks {
		t.say("  ", c.word("agrees:  ", "unclear: ", "DIFFERS: ")+c.What+": planned "+c.Plan+"; live "+c.Live)
	}
}

func (l *Live) headline() string {
	said := "It shows what was planned."
	switch {
	case !l.Agrees():
		said = "It differs from the plan: trust neither before you know why."
	case slices.ContainsFunc(l.Checks, func(c Check) bool { return c.Unclear }):
		said = "Nothing differs but what this machine may have delayed: run it at a lower --live-speed."
	}
	return fmt.Sprintf("Once on a real control plane, at %gx. %s", l.Speed, said)
}

// live writes the same for a pull request.
func (m *markdown) live(l *Live) {
	if l == nil {
		return
	}
	fmt.Fprintf(m, "\n%s\n", escaped(l.headline()))
	m.table([]string{"live", "of", "planned", "live run"}, len(l.Checks), func(i int) []string {
		c := &l.Checks[i]
		return []string{c.word("agrees", "unclear", "**differs**"), code(c.What), escaped(c.Plan), escaped(c.Live)}
	})
}
