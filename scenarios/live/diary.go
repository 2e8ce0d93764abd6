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
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios"
)

// checkpointEvery is how often the record is brought up to date, in wall time. It
// is also the performance's sign of life.
const checkpointEvery = 2 * time.Second

// A diary is what a ConfigMap, the record, in the cluster says of the performance there, so
// that one that was killed can be gone on with.
type diary struct {
	Scenario string
	// Source is how a command line names the scenario, where not by its name: the
	// path of a file, on the holder's machine.
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
	// Holder is the process that performs.
	Holder string
}

func (p *Performer) values() string {
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

// OtherPerformanceError says that something else is, or was, performed in the
// cluster.
type OtherPerformanceError struct {
	Server string
	// Scenario is what the cluster has, Source how a command line names it where not
	// by that, Found says what of it isn't as wanted.
	Scenario, Source, Found string
	// Flags lead a command line to the cluster; they stand in the remedy.
	Flags string
	// Running says that a process performs it now.
	Running bool
}

// Error implements error.
func (e *OtherPerformanceError) Error() string {
	remedy := "want that one to end first"
	if !e.Running {
		remedy = "want it removed first: " + e.remedy()
	}
	return fmt.Sprintf("cluster %s: found scenario %s performed there, %s: %s", e.Server, e.Scenario, e.Found, remedy)
}

// remedy is a command line that removes what is there.
func (e *OtherPerformanceError) remedy() string {
	word, ending := e.Scenario, ""
	_, err := scenarios.Find(e.Scenario)
	switch {
	case e.Source == "-", e.Source == "" && err != nil: // where its file is nobody has noted
		word, ending = "FILE", ", with the FILE of "+e.Scenario
	case e.Source != "":
		word = e.Source
	}
	return "nodesim simulate " + word + " --live --cleanup" + e.Flags + ending
}

// cleaner is who holds the record while [Performer.Cleanup] removes things.
const cleaner = "nodesim --cleanup"

// peek refuses a cluster whose record is of another performance. It writes nothing.
func (p *Performer) peek(ctx context.Context, client kubernetes.Interface) (was diary, there bool, err error) {
	var have *corev1.ConfigMap
	err = p.again(ctx, func(ctx context.Context) (err error) {
		have, err = client.CoreV1().ConfigMaps(RecordNamespace).Get(ctx, RecordName, metav1.GetOptions{})
		return unread(err)
	})
	switch {
	case apierrors.IsNotFound(err):
		return diary{}, false, nil
	case err != nil:
		return diary{}, false, err
	}
	was = diaryOf(have)
	return was, true, p.refuse(was)
}

// unread says of an error where the record couldn't be read; nil stays nil.
func unread(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("look for the record of a performance, configmap %s/%s: %w", RecordNamespace, RecordName, err)
}

// refuse says why a record isn't one to go on with.
func (p *Performer) refuse(was diary) error {
	switch values := p.values(); {
	case was.Scenario != p.label:
		return &OtherPerformanceError{Server: p.config.Host, Scenario: was.Scenario, Source: was.Source, Found: "which isn't " + p.label}
	case was.Values != values:
		return &OtherPerformanceError{Server: p.config.Host, Scenario: was.Scenario, Source: cmp.Or(was.Source, p.source), Found: "with " + was.Values + " in place of " + values}
	}
	return nil
}

func diaryOf(c *corev1.ConfigMap) diary {
	d := c.Data
	return diary{
		Scenario: d["scenario"], Source: d["source"], Values: d["values"], Speed: d["speed"], Begun: d["begun"] == "true", Rolled: d["rolled"] == "true",
		At: d["at"], Wall: d["wall"], Holder: d["holder"],
	}
}
