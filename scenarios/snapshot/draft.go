package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// Options say what the objects of a Reading don't.
type Options struct {
	// Name of the cluster, or of the file that it was read from.
	Name string
	// Header of the tape that the objects are from; nil where they aren't from one. Its provider and its server's version count.
	Header *timeline.Header
	// At is when the objects were read, zero where that isn't known: then it is the newest time in them.
	At time.Time
	// LeftOut are the parts of the cluster that couldn't be read, one line each.
	LeftOut []string
	// Key, where it isn't empty, has names of the user's own be pseudonyms, the same ones each time with the same key.
	Key []byte
}

// A draft is a file on its way: what is zero in it has the default of a key that a file leaves out.
type draft struct {
	Reading
	Options
	at        time.Time
	file      spec.File
	rules     noderoll.Provider
	said      remarks
	names     names
	zones     map[string]string // by node
	hosts     map[string]string // names of nodes by their hostnames
	pools     map[string]string // groups by what the file's provider calls them
	elsewhere map[root]int      // pods of a workload that run where the file has no nodes
}

// mostRefused bounds the workloads and budgets that the checks of a file may refuse until the whole is refused.
const mostRefused = 30

// mostBytes bounds the text of the file; a test lowers it.
var mostBytes = spec.MaxFile

// File makes a scenario file of what was read. It consumes the Reading.
func (r *Reading) File(o Options) (*spec.File, error) {
	d := &draft{
		Reading: *r, Options: o, at: o.At, names: names{}, zones: map[string]string{}, hosts: map[string]string{}, pools: map[string]string{}, elsewhere: map[root]int{},
	}
	if d.at.IsZero() {
		d.at = d.moment()
	}
	d.without()
	if len(d.nodes) == 0 {
		return nil, errors.New("found no nodes: want a cluster that has some, or the objects of one: " + KubectlGet)
	}
	d.describe()
	if err := d.groups(); err != nil {
		return nil, err
	}
	for _, o := range d.workloads() {
		if w := d.workload(o); w != nil {
			d.file.Workloads = append(d.file.Workloads, *w)
		}
	}
	d.file.Budgets = d.budgetsOf()
	d.scaled()
	hidden := newPseudonyms(o.Key)
	for _, lines := range [][]string{d.LeftOut, d.said.lines(hidden), d.counted()} {
		for _, line := range lines {
			d.leave(line)
		}
	}
	hidden.file(&d.file)
	return d.resolve()
}

// describe says what the file is of.
func (d *draft) describe() {
	f := &d.file
	f.APIVersion, f.Kind = spec.APIVersion, spec.FileKind
	f.Metadata = spec.Metadata{Name: phrase.LabelLike(d.Name, "cluster"), Title: undated}
	f.TimeLimit = limitOf(len(d.nodes))
	if year := d.at.Year(); year >= 2000 && year < 2200 {
		f.Start = d.at.UTC().Truncate(time.Second)
		f.Metadata.Title = "a cluster as it was at " + f.Start.Format(time.RFC3339)
		return
	}
	d.LeftOut = append(slices.Clip(d.LeftOut), "the time of the cluster: no time in the input is between 2000 and 2200; the file's start is made up")
}

// limitOf is how long the roll of so many nodes may take: far longer than any that makes progress. No object of the cluster says it.
func limitOf(nodes int) time.Duration {
	return min(12*time.Hour+time.Duration(nodes)*30*time.Minute, spec.MaxDuration)
}

// undated is the title of a file that doesn't know when its cluster was read.
const undated = "a cluster as it was at a time that isn't known"

// Dated reports whether a file's start is when its cluster was read. That of one that isn't dated means nothing.
func Dated(f *spec.File) bool { return f.Metadata.Title != undated }

// scaled says that something in the cluster adds nodes, which no object of it describes whole.
func (d *draft) scaled() {
	karpenter := d.file.Cluster.Provider == spec.ProviderKarpenter
	if karpenter && d.others["NodePool"] == 0 {
		d.LeftOut = append(slices.Clip(d.LeftOut), "NodePools: not among the objects; their disruption budgets and terminationGracePeriod are --roll budget= and "+
			"evictionTimeout=, and else Karpenter's defaults, 10% and none; their limits bound nothing here")
	}
	for _, at := range slices.SortedFunc(maps.Keys(d.keepers), compareRoots) {
		if at.kind == "Deployment" && (strings.Contains(at.Name, "cluster-autoscaler") || at.Name == "karpenter" && !karpenter) {
			d.said.add("autoscalers", "nodes are added for pods without room only where the file has autoscaler: {}", ref{workloadName, at.Namespace, at.Name})
		}
	}
}

// resolve has the checks of a scenario file judge the draft. A workload or budget that they refuse is left out, with their words.
func (d *draft) resolve() (*spec.File, error) {
	for range mostRefused {
		var text bytes.Buffer
		if err := write(&text, &d.file, true); err != nil {
			return nil, err
		}
		if text.Len() > mostBytes {
			return nil, tooMany("bytes of its scenario file", mostBytes)
		}
		doc, err := spec.Parse(d.file.Metadata.Name, text.Bytes())
		if err == nil {
			return doc.Resolve(nil, nil)
		}
		var bad *spec.Error
		if !errors.As(err, &bad) || !d.drop(bad) {
			return nil, fmt.Errorf("the scenario file of the cluster: %w", err)
		}
	}
	return nil, fmt.Errorf("the scenario file of the cluster: found more than %d workloads and budgets that no file may have: want a cluster whose objects an API server has taken", mostRefused)
}

// drop takes away the workload or budget that an error is about.
func (d *draft) drop(bad *spec.Error) bool {
	var i int
	why := fmt.Sprintf("%s: want %s", bad.Found, bad.Wanted)
	place := func(list string) string {
		return strings.TrimPrefix(strings.TrimPrefix(bad.Path, fmt.Sprintf("%s[%d]", list, i)), ".")
	}
	if n, _ := fmt.Sscanf(bad.Path, "workloads[%d]", &i); n == 1 && i < len(d.file.Workloads) {
		w := d.file.Workloads[i]
		d.leave(fmt.Sprintf("workload %s/%s and its pods: %s: %s", w.Namespace, w.Name, place("workloads"), why))
		d.file.Workloads = append(d.file.Workloads[:i:i], d.file.Workloads[i+1:]...)
		return true
	}
	if n, _ := fmt.Sscanf(bad.Path, "budgets[%d]", &i); n == 1 && i < len(d.file.Budgets) {
		b := d.file.Budgets[i]
		d.leave(fmt.Sprintf("budget %s/%s: %s: %s", b.Namespace, b.Name, place("budgets"), why))
		d.file.Budgets = append(d.file.Budgets[:i:i], d.file.Budgets[i+1:]...)
		return true
	}
	return false
}

func (d *draft) leave(line string) { d.file.LeftOut = append(d.file.LeftOut, oneLine(line)) }

// rename has a pod's demands name groups and hosts as the file does: groups as DNS labels, hosts as their nodes.
func (d *draft) rename(s *corev1.PodSpec) {
	named := func(key, value string) string {
		switch {
		case key == corev1.LabelHostname:
			return d.hostOf(value)
		case slices.Contains(d.rules.PoolLabels, key):
			if group := d.pools[value]; group != "" {
				return group
			}
			return phrase.LabelLike(value, value)
		}
		return value
	}
	for key, value := range s.NodeSelector {
		s.NodeSelector[key] = named(key, value)
	}
	for _, r := range nodeRequirements(s.Affinity) {
		for i := range r.Values {
			r.Values[i] = named(r.Key, r.Values[i])
		}
	}
}
