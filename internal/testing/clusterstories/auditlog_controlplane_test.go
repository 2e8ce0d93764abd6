//go:build controlplane

package clusterstories_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/testing/clusterstories"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/auditlog"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

const everything = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: None, resources: [{group: coordination.k8s.io}]}
%s- {level: RequestResponse}
`

// levels are rules that log less than everything: what kubelets say of their nodes and pods without the answers, as the
// policies of managed clusters do.
var levels = map[string]string{
	"everything":              "",
	"kubelets without answer": "- {level: Request, verbs: [patch, update], resources: [{group: \"\", resources: [nodes/status, pods/status]}]}\n",
}

// One roll, recorded, and taken from the audit log of the same API server, is the same roll: each object goes through
// the same states, in the same order. Only the log knows how many evictions were refused.
func TestRecordingIsLikeItsAuditLog(t *testing.T) {
	t.Parallel()
	for name, rules := range levels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			likeItsAuditLog(t, rules)
		})
	}
}

func likeItsAuditLog(t *testing.T, rules string) {
	folder := t.TempDir()
	policy, log := filepath.Join(folder, "policy.yaml"), filepath.Join(folder, "audit.log")
	if err := os.WriteFile(policy, fmt.Appendf(nil, everything, rules), 0o600); err != nil {
		t.Fatal(err)
	}
	group := testcluster.Group{Name: "workers", Zones: []string{"us-east-1a"}}
	var refused int
	recorded := execute(t, clusterstories.Story{
		Name: "audited", Group: group, Nodes: 2, After: 3 * time.Second,
		Workloads: []testcluster.Workload{{Replicas: 4, MinAvailable: 3}},
		Act: func(ctx context.Context, client kubernetes.Interface) error {
			report, err := testcluster.Roll{Group: group, AfterDrain: 500 * time.Millisecond}.Run(ctx, client)
			for _, n := range report.Refused {
				refused += n
			}
			return err
		},
	}, testcluster.Options{APIServer: map[string]string{"audit-policy-file": policy, "audit-log-path": log, "audit-log-maxsize": "0"}})
	imported := filepath.Join(folder, "imported.yaml")
	unsure := fromLog(t, log, imported)

	whole := open(t, imported)
	if report, err := inspect.Check(whole, inspect.CheckOptions(whole.Header())); err != nil || len(report.Violations) > 0 {
		t.Errorf("found %v and the violations %v", err, report.Violations)
	}
	a, b := open(t, recorded), open(t, imported)
	report, err := tapediff.Compare(a, b, tapediff.Options{
		NameA: "recorded", NameB: "imported", InOrder: true,
		FromB: a.Header().Metadata.Start.Sub(b.Header().Metadata.Start.Time),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report.Summary())
	if !report.Equal() || report.Nodes != 4 || report.Budgets != 1 {
		t.Error(report)
	}
	kinds := []noderoll.EventKind{noderoll.EvtCordoned, noderoll.EvtDraining, noderoll.EvtTerminated}
	if !unsure { // the last write of a kubelet whose node is deleted may be given up
		kinds = append(kinds, noderoll.EvtEvicted)
	}
	if x, y := told(t, recorded, kinds), told(t, imported, kinds); !slices.Equal(x, y) || len(x) < 6 {
		t.Errorf("the feeds differ:\n%s\n\n%s", strings.Join(x, "\n"), strings.Join(y, "\n"))
	}
	text, err := os.ReadFile(imported)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(`"type":"REFUSED"`)); n != refused || n == 0 {
		t.Errorf("found %d refusals on the tape, want the %d that the drainer met", n, refused)
	}
}

// fromLog makes a tape of an audit log, which the API server may still write. It reports whether the log leaves open
// what became of a write.
func fromLog(t *testing.T, log, tape string) (unsure bool) {
	t.Helper()
	in, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	var dump bytes.Buffer
	report, err := auditlog.Convert(t.Context(), in, &dump)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := recorder.Import(t.Context(), bytes.NewReader(dump.Bytes()), recorder.ImportOptions{
		Open:  func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(tape, h) },
		Scope: recorder.Scope{Nodegroup: "workers", Providers: []recorder.Provider{{Name: "eks", Labels: []string{testcluster.LabelNodegroup}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := in.Seek(0, io.SeekCurrent)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of log, %d of dump, %d lines, %d gaps; the log couldn't tell: %q", read, dump.Len(), sum.Events, sum.Gaps, report.LeftOut)
	for _, r := range sum.Resources {
		if r.Gaps+r.Repeats+r.Unknown > 0 {
			t.Errorf("%s: found %d gaps, %d repeats and %d unknown, want none", r.Resource, r.Gaps, r.Repeats, r.Unknown)
		}
	}
	return strings.Contains(strings.Join(report.LeftOut, "\n"), "gave up")
}

// told are the entries of some kinds, sorted, since two resources have no common order.
func told(t *testing.T, tape string, kinds []noderoll.EventKind) (all []string) {
	t.Helper()
	r := open(t, tape)
	o, err := observe.OptionsFor(r.Header(), "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	o.Verbose = true
	f := observe.New(r.Header(), o)
	lines, err := tapediff.Lines(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		entries, err := f.Apply(l.Event)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if slices.Contains(kinds, e.Kind) {
				all = append(all, string(e.Kind)+" "+e.Node+" "+e.Object)
			}
		}
	}
	slices.Sort(all)
	return all
}
