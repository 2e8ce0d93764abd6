package export

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// kind is the type of a column's cells.
type kind int

const (
	isText kind = iota
	isSeconds
	isCount
	isFlag
	isTime
)

// column is a column of a table. Each of its cells is a string, float64, int64, bool or time.Time, or nil where the tape
// doesn't tell.
type column struct {
	name  string
	kind  kind
	cells []any
}

type table struct {
	name    string
	rows    int
	columns []column
}

// add adds a column whose cells are computed one by one.
func (t *table) add(name string, k kind, cell func(i int) any) {
	c := column{name: name, kind: k, cells: make([]any, t.rows)}
	for i := range c.cells {
		c.cells[i] = cell(i)
	}
	t.columns = append(t.columns, c)
}

func (t *table) text(name string, cell func(i int) string) {
	t.add(name, isText, func(i int) any {
		if s := text(cell(i)); s != "" {
			return s
		}
		return nil
	})
}

func (t *table) moment(name string, cell func(i int) *analysis.Moment) {
	t.add(name+"_seconds", isSeconds, func(i int) any {
		if m := cell(i); m != nil {
			return seconds(m.At)
		}
		return nil
	})
}

func (t *table) duration(name string, cell func(i int) *time.Duration) {
	t.add(name+"_seconds", isSeconds, func(i int) any {
		if d := cell(i); d != nil {
			return seconds(*d)
		}
		return nil
	})
}

func (t *table) count(name string, cell func(i int) int) {
	t.add(name, isCount, func(i int) any { return int64(cell(i)) })
}

func (t *table) flag(name string, cell func(i int) bool) {
	t.add(name, isFlag, func(i int) any { return cell(i) })
}

// tableOf is the table with these rows. Its first two columns say which tape it is of, so that tables of several can be put
// together.
func tableOf(a *analysis.Analysis, rows Rows) *table {
	t := &table{name: string(rows)}
	var fill func()
	switch rows {
	case Pods:
		t.rows, fill = len(a.Pods), func() { t.pods(a.Pods) }
	case Waits:
		all := waitsOf(a.Nodes)
		t.rows, fill = len(all), func() { t.waits(all) }
	default:
		t.rows, fill = len(a.Nodes), func() { t.nodes(a.Nodes) }
	}
	t.text("tape", func(int) string { return a.Tape.Name })
	t.add("start", isTime, func(int) any {
		if _, ok := epoch(a); ok {
			return a.Tape.Start.Truncate(time.Microsecond) // what Parquet's readers all know
		}
		return nil
	})
	fill()
	return t
}

func (t *table) nodes(all []analysis.Node) {
	t.text("name", func(i int) string { return all[i].Name })
	t.text("uid", func(i int) string { return all[i].UID })
	t.text("group", func(i int) string { return all[i].Group })
	t.text("role", func(i int) string { return string(all[i].Role) })
	t.text("image", func(i int) string { return all[i].Image })
	t.text("zone", func(i int) string { return all[i].Zone })
	t.text("instance_type", func(i int) string { return all[i].InstanceType })
	t.text("claim", func(i int) string { return all[i].Claim })
	t.moment("requested", func(i int) *analysis.Moment { return all[i].Requested })
	t.moment("joined", func(i int) *analysis.Moment { return all[i].Joined })
	t.moment("ready", func(i int) *analysis.Moment { return all[i].Ready })
	t.moment("cordoned", func(i int) *analysis.Moment { return all[i].Cordoned })
	t.moment("drain_began", func(i int) *analysis.Moment { return all[i].DrainBegan })
	t.moment("drained", func(i int) *analysis.Moment { return all[i].Drained })
	t.moment("terminated", func(i int) *analysis.Moment { return all[i].Terminated })
	t.duration("boot", func(i int) *time.Duration { return all[i].Boot })
	t.duration("join", func(i int) *time.Duration { return all[i].Join })
	t.duration("cordon", func(i int) *time.Duration { return all[i].Cordon })
	t.duration("drain", func(i int) *time.Duration { return all[i].Drain })
	t.duration("termination", func(i int) *time.Duration { return all[i].Termination })
	t.flag("drain_unfinished", func(i int) bool { return all[i].DrainUnfinished })
	t.count("pods_to_evict", func(i int) int { return all[i].PodsToEvict })
}

func (t *table) pods(all []analysis.Pod) {
	t.text("namespace", func(i int) string { return all[i].Namespace })
	t.text("name", func(i int) string { return all[i].Name })
	t.text("uid", func(i int) string { return all[i].UID })
	t.text("workload", func(i int) string { return all[i].Workload })
	t.text("node", func(i int) string { return all[i].Node })
	t.moment("created", func(i int) *analysis.Moment { return all[i].Created })
	t.moment("scheduled", func(i int) *analysis.Moment { return all[i].Scheduled })
	t.moment("ready", func(i int) *analysis.Moment { return all[i].Ready })
	t.moment("deleted", func(i int) *analysis.Moment { return all[i].Deleted })
	t.moment("gone", func(i int) *analysis.Moment { return all[i].Gone })
	t.flag("evicted", func(i int) bool { return all[i].Evicted })
}

// nodeWait is a wait with the node that waited.
type nodeWait struct {
	analysis.Wait
	node *analysis.Node
}

func waitsOf(nodes []analysis.Node) (all []nodeWait) {
	for i := range nodes {
		for _, w := range nodes[i].Waits {
			all = append(all, nodeWait{w, &nodes[i]})
		}
	}
	return all
}

func (t *table) waits(all []nodeWait) {
	t.text("node", func(i int) string { return all[i].node.Name })
	t.text("node_uid", func(i int) string { return all[i].node.UID })
	t.text("group", func(i int) string { return all[i].node.Group })
	t.text("phase", func(i int) string { return string(all[i].Phase) })
	t.text("wait", func(i int) string { return string(all[i].Kind) })
	t.moment("from", func(i int) *analysis.Moment { return &all[i].From })
	t.moment("to", func(i int) *analysis.Moment { return &all[i].To })
	t.duration("duration", func(i int) *time.Duration { return &all[i].Duration })
	t.text("object", func(i int) string { return all[i].Object })
	t.text("pods", func(i int) string { return strings.Join(all[i].Pods, " ") })
	t.count("more_pods", func(i int) int { return all[i].MorePods })
	t.text("reason", func(i int) string { return all[i].Reason })
	t.text("message", func(i int) string { return all[i].Message })
	t.flag("unfinished", func(i int) bool { return all[i].Unfinished })
	t.count("from_line", func(i int) int { return all[i].From.Line })
	t.count("to_line", func(i int) int { return all[i].To.Line })
}
