package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/labelindex"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// space is a namespace: its budgets, and the sets of labels that its pods have.
//
// comparisons is what is left of labelindex.ComparisonsPerChange of all changes: budgets and pods that are compared, or
// counted for one another. Where that is used up, the namespace is unfollowed: none of its budgets counts from then on.
type space struct {
	name        string
	budgets     map[string]*budget // that are there
	all         map[string]*budget
	classes     map[string]*class
	labelled    labelindex.ByLabel[*class]
	selecting   *labelindex.Selecting[*budget]
	comparisons int
	unfollowed  Moment
}

// class is the pods of a namespace that share their labels, and so their budgets.
type class struct {
	key     string
	space   *space
	labels  labels.Set
	pods    map[*pod]struct{}
	budgets []*budget // that cover them, by name
}

// budget is a PodDisruptionBudget while the tape is read.
type budget struct {
	Budget
	object   *policyv1.PodDisruptionBudget
	says     noderoll.Budget
	selector labels.Selector
	gates    [2]gate             // for pods that aren't ready, and for those that are
	never    gate                // for pods with two budgets
	told     gate                // for pods that it refused as REFUSED lines say, while it is no object on the tape
	said     string              // the last of these refusals
	double   map[string]bool     // all budgets, by name, of pods that it held and that others cover as well
	classes  map[*class]struct{} // that it covers
	ready    []*pod              // that it covers, as they became ready
	most     int                 // desired

	zero  Moment    // since when it allows nothing
	lacks intervals // it has fewer healthy pods than it wants

	holding int // pods and nodes that it holds up now
	intervals
	nodes map[*node]bool
	ended []*blockade // of nodes that were only cordoned
	held  map[*pod]bool
	named map[objectName]bool
	// As it began to hold something up: the last time, and for longest.
	began, longest figures
	lasted         time.Duration // for longest
}

// figures are what a budget wants and has, and how many pods it counts.
type figures struct{ wants, healthy, expected int }

func (b *budget) key() string { return b.Namespace + "/" + b.Name }

// path is a budget as Kind/namespace/name.
func (b *Budget) path() string { return "PodDisruptionBudget/" + b.Namespace + "/" + b.Name }

func (s *reading) space(namespace string) *space {
	sp := s.spaces[namespace]
	if sp == nil {
		sp = &space{
			name: namespace, budgets: map[string]*budget{}, all: map[string]*budget{}, classes: map[string]*class{},
			labelled: labelindex.ByLabel[*class]{}, selecting: labelindex.NewSelecting[*budget](),
		}
		s.spaces[namespace] = sp
	}
	return sp
}

// setClass finds the class of a pod by its labels.
func (s *reading) setClass(p *pod) {
	sp := s.space(p.namespace)
	key := labels.Set(p.labels).String()
	if p.class != nil {
		if p.class.key == key {
			return
		}
		s.leaveClass(p)
	}
	sp.comparisons += labelindex.ComparisonsPerChange
	c := sp.classes[key]
	if c == nil {
		c = &class{key: key, space: sp, labels: p.labels, pods: map[*pod]struct{}{}}
		for b := range sp.selecting.MayMatch(c.labels) {
			sp.comparisons--
			if b.selector.Matches(c.labels) {
				c.budgets = append(c.budgets, b)
			}
		}
		slices.SortFunc(c.budgets, budgetsByName)
		for _, b := range c.budgets {
			b.classes[c] = struct{}{}
			b.review(s)
		}
		sp.classes[key] = c
		sp.labelled.Add(c, c.labels)
	}
	c.pods[p] = struct{}{}
	p.class = c
	sp.comparisons -= len(c.budgets)
	for _, b := range c.budgets {
		p.workload.coveredBy(b)
	}
	s.afford(sp)
}

func budgetsByName(a, b *budget) int { return strings.Compare(a.Name, b.Name) }

func byName(a, b *pod) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

func (s *reading) leaveClass(p *pod) {
	c := p.class
	p.class = nil
	if delete(c.pods, p); len(c.pods) > 0 {
		return
	}
	delete(c.space.classes, c.key)
	c.space.labelled.Remove(c, c.labels)
	for _, b := range c.budgets {
		delete(b.classes, c)
		b.review(s)
	}
}

// coveredBy notes a budget of the workload's pods.
func (w *workload) coveredBy(b *budget) {
	if !w.covered[b] {
		w.covered[b] = true
		w.budgets = append(w.budgets, b)
	}
}

// covered is how many pods a budget covers.
func (b *budget) covered() (pods int) {
	for c := range b.classes {
		pods += len(c.pods)
	}
	return pods
}

// budget takes a PodDisruptionBudget's event.
func (s *reading) budget(ev *timeline.Event, _ bool) error {
	sp := s.space(ev.Namespace)
	if sp.unfollowed.is() {
		return nil
	}
	b := sp.budgets[ev.Name]
	if ev.Type == timeline.Deleted {
		if b != nil {
			s.dropBudget(sp, b)
		}
		return nil
	}
	raw, whole := []byte(ev.Object), true
	if b != nil && ev.Patch != nil {
		raw, whole = ev.Patch, false
	}
	if raw == nil {
		return nil
	}
	if b == nil {
		if b = sp.all[ev.Name]; b == nil {
			b = s.newBudget(sp, ev.Namespace, ev.Name)
		}
		b.selector = nil
		sp.budgets[ev.Name] = b
	}
	if whole {
		b.object = &policyv1.PodDisruptionBudget{}
		b.object.Namespace, b.object.Name = ev.Namespace, ev.Name
	}
	was := b.says.Selector
	s.decoders.Brief = true
	s.decoders.Budget(b.object, raw)
	b.says = noderoll.BudgetFrom(b.object)
	if b.selector == nil || !noderoll.EqualSelectors(was, b.says.Selector) {
		s.selects(sp, b)
	}
	b.most = max(b.most, int(b.says.DesiredHealthy))
	b.review(s)
	if s.o.Series {
		b.Allowed = level(b.Allowed, s.now, b.says.DisruptionsAllowed)
		b.Healthy = level(b.Healthy, s.now, b.says.CurrentHealthy)
		b.Desired = level(b.Desired, s.now, b.says.DesiredHealthy)
	}
	return nil
}

// newBudget makes a budget that isn't known yet.
func (s *reading) newBudget(sp *space, namespace, name string) *budget {
	b := &budget{Budget: Budget{Namespace: namespace, Name: name, HeldNodes: []string{}, Pods: []string{}}, classes: map[*class]struct{}{}, nodes: map[*node]bool{}, held: map[*pod]bool{}, named: map[objectName]bool{}, double: map[string]bool{}}
	for _, g := range []*gate{&b.gates[0], &b.gates[1], &b.never, &b.told} {
		g.budget = b
	}
	for _, g := range []*gate{&b.never, &b.told} {
		g.refuses, g.since = true, s.now
	}
	sp.all[name] = b
	s.budgets = append(s.budgets, b)
	return b
}

// level adds a figure where it is another one than before.
func level(all []Level, now Moment, v int32) []Level {
	if n := len(all); n > 0 && all[n-1].Value == int(v) {
		return all
	}
	return append(all, Level{now, int(v)})
}

// selects finds the pods that a budget covers. A selector that can't be read matches nothing, as for the server.
func (s *reading) selects(sp *space, b *budget) {
	selector, err := metav1.LabelSelectorAsSelector(b.says.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	if b.selector != nil {
		sp.selecting.Remove(b)
	}
	b.selector = selector
	sp.selecting.Add(b, selector)
	sp.comparisons += labelindex.ComparisonsPerChange
	var changed []*class
	for c := range b.classes {
		sp.comparisons--
		if !selector.Matches(c.labels) {
			b.leave(c)
			changed = append(changed, c)
		}
	}
	for c := range sp.labelled.MayMatch(selector, maps.Values(sp.classes)) {
		sp.comparisons--
		if _, had := b.classes[c]; had || !selector.Matches(c.labels) {
			continue
		}
		sp.comparisons -= len(c.pods) + len(c.budgets)
		b.classes[c] = struct{}{}
		at, _ := slices.BinarySearchFunc(c.budgets, b, budgetsByName)
		c.budgets = slices.Insert(c.budgets, at, b)
		for p := range c.pods {
			p.workload.coveredBy(b)
		}
		changed = append(changed, c)
	}
	b.review(s)
	s.askAgain(changed...)
	s.afford(sp)
}

// leave takes a class from a budget.
func (b *budget) leave(c *class) {
	c.space.comparisons -= len(c.pods) + len(c.budgets)
	delete(b.classes, c)
	c.budgets = slices.DeleteFunc(c.budgets, func(o *budget) bool { return o == b })
}

// askAgain sends the pods of classes to the gates of their budgets, by their names: classes come in no order.
func (s *reading) askAgain(classes ...*class) {
	var waiting []*pod
	for _, c := range classes {
		for p := range c.pods {
			if p.held.waits {
				waiting = append(waiting, p)
			}
		}
	}
	slices.SortFunc(waiting, byName)
	for _, p := range waiting {
		s.enterGate(p)
	}
}

func (s *reading) dropBudget(sp *space, b *budget) {
	sp.comparisons += labelindex.ComparisonsPerChange
	delete(sp.budgets, b.Name)
	sp.selecting.Remove(b)
	classes := slices.Collect(maps.Keys(b.classes))
	for _, c := range classes {
		b.leave(c)
	}
	b.review(s)
	s.askAgain(classes...)
	s.afford(sp)
}

// afford lets go of the budgets of a namespace that need too many comparisons.
func (s *reading) afford(sp *space) {
	if sp.comparisons >= 0 || sp.unfollowed.is() {
		return
	}
	sp.unfollowed = s.now
	for _, c := range sp.classes {
		c.budgets = nil
	}
	s.askAgain(slices.Collect(maps.Values(sp.classes))...)
	for _, b := range sp.budgets {
		clear(b.classes)
		b.review(s)
	}
	clear(sp.budgets)
	sp.selecting = labelindex.NewSelecting[*budget]()
}

// review asks a budget again what it allows.
func (b *budget) review(s *reading) {
	covers := len(b.classes) > 0
	for i := range b.gates {
		b.gates[i].set(s, covers && b.says.Refuses(i == 1))
	}
	lasts(&b.zero, &b.AtZero, s.now, covers && b.says.DisruptionsAllowed <= 0)
	b.lacks.is(covers && b.says.CurrentHealthy < b.says.DesiredHealthy, s.now)
}

// lasts adds up for how long something is so.
func lasts(since *Moment, total *time.Duration, now Moment, is bool) {
	switch {
	case is && !since.is():
		*since = now
	case !is && since.is():
		*total += now.At - since.At
		*since = Moment{}
	}
}

// among notes the budgets of a pod that it holds up because they are several.
func (b *budget) among(c *class) {
	for _, o := range c.budgets {
		b.double[o.Name] = true
	}
}

// why says why a gate is closed.
func (b *budget) why(g *gate) string {
	switch g {
	case &b.told:
		return b.said
	case &b.never:
		return "pods have more than one budget, which the eviction API does not support"
	}
	return b.says.Why()
}

// holds counts what the budget holds up.
func (b *budget) holds(s *reading, by int) {
	was := b.holding > 0
	b.holding += by
	switch is := b.holding > 0; {
	case is && !was:
		b.begin(s.now)
		if b.all[len(b.all)-1].from == s.now { // else the last time goes on
			b.began = figures{int(b.says.DesiredHealthy), int(b.says.CurrentHealthy), b.covered()}
		}
	case was && !is:
		b.release(s.now)
	}
}

// release ends a time in which the budget held something up.
func (b *budget) release(now Moment) {
	if !b.open {
		return
	}
	b.end(now)
	last := b.all[len(b.all)-1]
	if d := last.to.At - last.from.At; d > b.lasted || b.lasted == 0 {
		b.lasted, b.longest = d, b.began
	}
}

// note names a pod that waits for the budget, and its node.
func (b *budget) note(p *pod, n *node) {
	if n != nil && !b.nodes[n] {
		b.nodes[n] = true
		b.HeldNodes = append(b.HeldNodes, n.Name)
	}
	b.held[p] = true
	if !b.named[p.objectName] {
		b.named[p.objectName] = true
		if len(b.Pods) < mostPods {
			b.Pods = append(b.Pods, p.String())
		} else {
			b.MorePods++
		}
	}
}

// mostPods bounds how many pods are named in one place.
const mostPods = 20

// close ends what the tape's end cuts off.
func (b *budget) close(s *reading) Budget {
	lasts(&b.zero, &b.AtZero, s.now, false)
	b.lacks.end(s.now)
	b.release(s.now)
	b.Held = b.total()
	return b.Budget
}
