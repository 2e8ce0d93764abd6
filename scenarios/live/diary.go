package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
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

// A takenOverError ends a performance whose record somebody else has written, or
// deleted.
type takenOverError struct{ by string }

// performs reports whether who has taken the record over goes on with what is there.
func (e *takenOverError) performs() bool { return e.by != "" && e.by != cleaner }

func (e *takenOverError) Error() string {
	if e.by == "" {
		return "the record of the performance (configmap " + RecordNamespace + "/" + RecordName + ") is gone: somebody has removed it, as --cleanup does"
	}
	return "the performance was taken over by " + e.by
}

// A ledger is the record in the cluster as this process holds it.
type ledger struct {
	p      *Performer
	client kubernetes.Interface
	holder string
	have   *corev1.ConfigMap
	now    diary
}

// peek refuses a cluster whose record is of another performance. It writes nothing.
func (p *Performer) peek(ctx context.Context, client kubernetes.Interface) (was diary, there bool, err error) {
	have, err := client.CoreV1().ConfigMaps(RecordNamespace).Get(ctx, RecordName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return diary{}, false, nil
	case err != nil:
		return diary{}, false, fmt.Errorf("look for the record of a performance, configmap %s/%s: %w", RecordNamespace, RecordName, err)
	}
	was = diaryOf(have)
	return was, true, p.refuse(was)
}

// claim makes the record this process's, and says whether there was one of an
// earlier performance to go on with. One whose process still lives is refused.
func (p *Performer) claim(ctx context.Context, client kubernetes.Interface) (l *ledger, adopted bool, err error) {
	host, _ := os.Hostname()
	l = &ledger{p: p, client: client, holder: fmt.Sprintf("%s:%d:%08x", host, os.Getpid(), rand.Uint32())}
	l.now = diary{Scenario: p.label, Source: p.source, Values: p.values(), Speed: fmt.Sprintf("%gx", p.speed), At: "0s", Holder: l.holder}
	maps := client.CoreV1().ConfigMaps(RecordNamespace)
	have, err := maps.Get(ctx, RecordName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		l.have, err = maps.Create(ctx, l.object(), metav1.CreateOptions{FieldManager: fieldManager})
		if err == nil {
			return l, false, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, false, fmt.Errorf("note the performance in configmap %s/%s: %w", RecordNamespace, RecordName, err)
		}
		have, err = maps.Get(ctx, RecordName, metav1.GetOptions{})
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for the record of a performance, configmap %s/%s: %w", RecordNamespace, RecordName, err)
	}
	was := diaryOf(have)
	if err := p.refuse(was); err != nil {
		return nil, false, err
	}
	// A process that lives writes again within checkpointEvery.
	if err := pause(ctx, p.clock, checkpointEvery+checkpointEvery/2); err != nil {
		return nil, false, err
	}
	l.have = have
	l.now.Begun, l.now.Rolled, l.now.At, l.now.Wall = was.Begun, was.Rolled, was.At, was.Wall
	if err := l.write(ctx); err != nil {
		if apierrors.IsConflict(err) {
			return nil, false, &OtherPerformanceError{Server: p.config.Host, Scenario: was.Scenario, Found: "by " + was.Holder, Running: true}
		}
		return nil, false, fmt.Errorf("take the record of the performance over, configmap %s/%s: %w", RecordNamespace, RecordName, err)
	}
	return l, true, nil
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

// resumeAt is the moment at which an adopted performance goes on: where the wall
// has brought it, but no further than what a living process could have done
// behind its last note.
func (l *ledger) resumeAt() time.Duration {
	at, err := time.ParseDuration(l.now.At)
	if err != nil {
		return 0
	}
	noted, err := time.Parse(time.RFC3339Nano, l.now.Wall)
	if err != nil {
		return at
	}
	passed := min(max(l.p.clock.Since(noted), 0), checkpointEvery)
	return at + time.Duration(float64(passed)*l.p.speed)
}

// note brings the record up to date.
func (l *ledger) note(ctx context.Context, begun, rolled bool, at time.Duration) error {
	l.now.Begun, l.now.Rolled, l.now.At, l.now.Wall = begun, rolled, at.String(), l.p.clock.Now().UTC().Format(time.RFC3339Nano)
	err := l.write(ctx)
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	have, get := l.client.CoreV1().ConfigMaps(RecordNamespace).Get(ctx, RecordName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(get):
		return &takenOverError{}
	case get != nil:
		return get
	}
	if by := diaryOf(have).Holder; by != l.holder {
		return &takenOverError{by}
	}
	l.have = have // an answer of ours was lost, or somebody has labelled it
	return l.write(ctx)
}

func (l *ledger) write(ctx context.Context) error {
	want := l.object()
	want.ResourceVersion, want.UID = l.have.ResourceVersion, l.have.UID
	have, err := l.client.CoreV1().ConfigMaps(RecordNamespace).Update(ctx, want, metav1.UpdateOptions{FieldManager: fieldManager})
	if err == nil {
		l.have = have
	}
	return err
}

func (l *ledger) object() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: RecordNamespace, Name: RecordName, Labels: map[string]string{Label: l.p.label}},
		Data: map[string]string{
			"scenario": l.now.Scenario, "source": l.now.Source, "values": l.now.Values, "speed": l.now.Speed, "begun": strconv.FormatBool(l.now.Begun), "rolled": strconv.FormatBool(l.now.Rolled),
			"at": l.now.At, "wall": l.now.Wall, "holder": l.now.Holder,
		},
	}
}

func diaryOf(c *corev1.ConfigMap) diary {
	d := c.Data
	return diary{
		Scenario: d["scenario"], Source: d["source"], Values: d["values"], Speed: d["speed"], Begun: d["begun"] == "true", Rolled: d["rolled"] == "true",
		At: d["at"], Wall: d["wall"], Holder: d["holder"],
	}
}
