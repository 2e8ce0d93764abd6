package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
)

// checkpointEvery is the interval at which the record is updated, in wall time. It is also the live run's heartbeat.
const checkpointEvery = 2 * time.Second

// A checkpoint is the progress of a live run, in a ConfigMap of the cluster (the record), so that a run that was killed
// can be resumed.
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
	// noted, Wall when that was.
	Begun bool
	// Rolled says that the rolls had ended.
	Rolled bool
	At     string
	Wall   string
	// Holder is the process of the live run.
	Holder string
}

func (p *Runner) values() string {
	return valuesOf(p.file)
}

func valuesOf(f *scenarios.File) string {
	all := make([]string, 0, len(f.Settings)+1)
	for _, s := range f.Settings {
		all = append(all, s.Name+"="+s.Value)
	}
	b, err := json.Marshal(append(all, "seed="+strconv.FormatUint(f.Seed, 10)))
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
	// Running says that a process runs it now.
	Running bool
}

// Error implements error.
func (e *OtherRunError) Error() string {
	remedy := "want that one to end first"
	if !e.Running {
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
	var have *corev1.ConfigMap
	err = p.again(ctx, func(ctx context.Context) (err error) {
		have, err = client.CoreV1().ConfigMaps(RecordNamespace).Get(ctx, RecordName, metav1.GetOptions{})
		return unread(err)
	})
	switch {
	case apierrors.IsNotFound(err):
		return checkpoint{}, false, nil
	case err != nil:
		return checkpoint{}, false, err
	}
	was = checkpointOf(have)
	return was, true, p.refuse(was)
}

// unread says of an error where the record couldn't be read; nil stays nil.
func unread(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("look for the record of a live run, configmap %s/%s: %w", RecordNamespace, RecordName, err)
}

// refuse says why a record can't be resumed.
func (p *Runner) refuse(was checkpoint) error {
	switch values := p.values(); {
	case was.Scenario != p.label:
		return &OtherRunError{Server: p.config.Host, Scenario: was.Scenario, Source: was.Source, Found: "which isn't " + p.label}
	case was.Values != values:
		return &OtherRunError{Server: p.config.Host, Scenario: was.Scenario, Source: cmp.Or(was.Source, p.source), Found: "with " + was.Values + " in place of " + values}
	}
	return nil
}

func checkpointOf(c *corev1.ConfigMap) checkpoint {
	d := c.Data
	return checkpoint{
		Scenario: d["scenario"], Source: d["source"], Values: d["values"], Speed: d["speed"], Begun: d["begun"] == "true", Rolled: d["rolled"] == "true",
		At: d["at"], Wall: d["wall"], Holder: d["holder"],
	}
}
