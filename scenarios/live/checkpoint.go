package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
)

// checkpointEvery is the interval at which the record is updated, in wall time. It is also the live run's heartbeat.
const checkpointEvery = 2 * time.Second

// A checkpoint is the progress of a live run, in annotations of a Lease of the cluster (the record), so that a run that was
// killed can be resumed. The Lease itself says which process runs it: one write renews both, or neither.
type checkpoint struct {
	Scenario string
	// Source is the path of the scenario's file on the holder's machine, where a command line doesn't name the
	// scenario by its name.
	Source string
	// Values are the parameters' values and the seed.
	Values string
	// Speed is for people: another run may have another.
	Speed string
	// Begun says that the scenario's 0s is over; At is the last moment that was
	// noted, Wall when that was, the Lease's renewTime.
	Begun bool
	// Rolled says that the rolls had ended.
	Rolled bool
	At     string
	Wall   time.Time
	// Holder is the process of the live run, the Lease's holderIdentity; "" where it has given a shard up.
	Holder string
	// Ended says that the shard has nothing more to do, and keeps its nodes until no other one has.
	Ended bool
}

func (p *Runner) values() string {
	if p.sharded() {
		return valuesOf(p.file, "shards="+strconv.Itoa(p.shards))
	}
	return valuesOf(p.file)
}

func valuesOf(f *scenarios.File, more ...string) string {
	all := make([]string, 0, len(f.Settings)+1+len(more))
	for _, s := range f.Settings {
		all = append(all, s.Name+"="+s.Value)
	}
	all = append(all, "seed="+strconv.FormatUint(f.Seed, 10))
	b, err := json.Marshal(append(all, more...))
	if err != nil {
		return "" // of strings: can't be
	}
	return string(b)
}

// OtherRunError says that the cluster has, or had, another live run.
type OtherRunError struct {
	Server string
	// Scenario is the one that the cluster has, Source the path by which a command line names it where not by its
	// name, Found the difference to what was wanted.
	Scenario, Source, Found string
	// Flags are those that select the cluster; the remedy repeats them.
	Flags string
	// Running says that a process runs it now, Recent that one may: it did within the last twenty seconds.
	Running, Recent bool
}

// Error implements error.
func (e *OtherRunError) Error() string {
	remedy := "want that one to end first"
	switch {
	case e.Running:
	case e.Recent:
		remedy += ", or, where it was killed, to be removed: " + e.remedy()
	default:
		remedy = "want it removed first: " + e.remedy()
	}
	return fmt.Sprintf("cluster %s: found a live run of scenario %s, %s: %s", e.Server, e.Scenario, e.Found, remedy)
}

// remedy is a command line that removes what is there.
func (e *OtherRunError) remedy() string {
	word, ending := e.Scenario, ""
	_, err := scenarios.Find(e.Scenario)
	switch {
	case e.Source == "-", e.Source == "" && err != nil: // the record doesn't say where its file is
		word, ending = "FILE", ", with the FILE of "+e.Scenario
	case e.Source != "":
		word = e.Source
	}
	return "nodesim simulate " + word + " --live --cleanup" + e.Flags + ending
}

// cleaner is the record's holder while [Runner.Cleanup] removes things.
const cleaner = "nodesim --cleanup"

// peek refuses a cluster whose record is of another live run. It writes nothing.
func (p *Runner) peek(ctx context.Context, client kubeclient.Interface) (was checkpoint, there bool, err error) {
	names := []string{RecordName}
	if !p.sharded() {
		names = append(names, shardRecord(0)) // every run of shards has it
	}
	for _, name := range names {
		have, err := p.readRecord(ctx, client, name)
		if err != nil {
			return checkpoint{}, false, err
		}
		if have != nil {
			was := checkpointOf(have)
			return was, true, p.refuse(was)
		}
	}
	return checkpoint{}, false, nil
}

// readRecord returns the record of that name, or nil where there is none. It asks a server that falters again.
func (p *Runner) readRecord(ctx context.Context, client kubeclient.Interface, name string) (have *coordinationv1.Lease, err error) {
	err = p.again(ctx, func(ctx context.Context) (err error) {
		have, err = client.CoordinationV1().Leases(RecordNamespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return have, unread(name, err)
}

// unread says of an error where a record couldn't be read; nil stays nil.
func unread(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("look for the record of a live run, lease %s/%s: %w", RecordNamespace, name, err)
}

// refuse says why a record can't be resumed.
func (p *Runner) refuse(was checkpoint) error {
	recent := !was.Wall.IsZero() && was.Holder != "" && was.Holder != cleaner && p.alive(was)
	switch values := p.values(); {
	case was.Scenario != p.label:
		return &OtherRunError{Server: p.config.Host, Scenario: was.Scenario, Source: was.Source, Found: "which isn't " + p.label, Recent: recent}
	case was.Values != values:
		return &OtherRunError{Server: p.config.Host, Scenario: was.Scenario, Source: cmp.Or(was.Source, p.source), Found: "with " + was.Values + " in place of " + values, Recent: recent}
	}
	return nil
}

// annotation is what the keys of a record's annotations begin with, such as nodesim.dev/scenario.
const annotation = "nodesim.dev/"

func checkpointOf(l *coordinationv1.Lease) checkpoint {
	of := func(key string) string { return l.Annotations[annotation+key] }
	return checkpoint{
		Scenario: of("scenario"), Source: of("source"), Values: of("values"), Speed: of("speed"), Begun: of("begun") == "true", Rolled: of("rolled") == "true",
		At: of("at"), Wall: ptr.Deref(l.Spec.RenewTime, metav1.MicroTime{}).Time, Holder: ptr.Deref(l.Spec.HolderIdentity, ""), Ended: of("ended") == "true",
	}
}
