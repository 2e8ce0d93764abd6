package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/cycle"
)

// DryRun says, a line at a time, what Run would do in this cluster: what it would create or adopt from an earlier
// live run, which nodes would join, and the first plan of each roll that package cycle plans. It checks what Run
// checks, and writes nothing.
func (p *Performer) DryRun(ctx context.Context, say func(string)) error {
	ctx = quietly(ctx)
	r := &run{Performer: p}
	var err error
	if r.clients, err = p.connect(ctx); err != nil {
		return err
	}
	defer r.clients.close()
	if err := r.plan(); err != nil {
		return err
	}
	if err := p.checkRights(ctx, r.clients.kube, r.rights()); err != nil {
		return err
	}
	was, there, err := p.peek(ctx, r.clients.kube)
	if err != nil {
		return err
	}
	if _, err := p.foreign(ctx, r.clients.kube); err != nil {
		return err
	}
	if err := r.survey(ctx); err != nil {
		return err
	}
	record := "configmaps/" + RecordNamespace + "/" + RecordName
	if !there {
		say("create " + record)
	} else {
		r.ledger = &ledger{p: p, now: was}
		say("take over " + record + ", and resume " + was.At + " into the scenario")
		if err := r.find(ctx); err != nil {
			return fmt.Errorf("cluster %s: %w", p.config.Host, err)
		}
	}
	for _, kind := range r.undefined {
		say("create " + planned{definitionsResource, definitionOf(kind, r.label)}.key())
	}
	for _, o := range r.objects {
		line, err := r.world.ground.prospect(ctx, o)
		if err != nil {
			return err
		}
		say(line)
	}
	return r.rehearse(ctx, was, say)
}

// prospect says what would become of a planned object.
func (g *ground) prospect(ctx context.Context, p planned) (string, error) {
	have, err := g.of(p.resource, p.object.GetNamespace()).Get(ctx, p.object.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "create " + p.key(), nil
	case err != nil:
		return "", fmt.Errorf("look for %s: %w", p.key(), err)
	case have.GetDeletionTimestamp() != nil:
		return "create " + p.key() + ", when the one that is being deleted is gone", nil
	case have.GetLabels()[Label] == g.label:
		return "adopt " + p.key(), nil
	case p.resource == namespacesResource:
		return "use " + p.key() + ", which stays", nil
	}
	return "", g.foreign(p)
}

// rehearse lets the nodes of 0s join nowhere, those that are there be adopted, and
// plans the rolls.
func (r *run) rehearse(ctx context.Context, was diary, say func(string)) error {
	stand := &rehearsal{}
	show, err := r.script.perform(scenarios.PerformConfig{World: stand, Speed: r.speed, Now: r.clock.Now, HandsOff: true})
	if err != nil {
		return err
	}
	there := map[string]types.UID{}
	for _, n := range r.nodes {
		there[n.Name] = n.UID
	}
	if was.Begun {
		if err := show.Adopt(r.nodes, r.ledger.resumeAt(), was.Rolled); err != nil {
			return err
		}
	}
	show.Seed()
	for _, o := range stand.customs {
		if !r.world.customs.writes(o.kind) {
			continue
		}
		line, err := r.world.ground.prospect(ctx, planned{o.kind.GroupVersionResource, o.object})
		if err != nil {
			return err
		}
		say(line)
	}
	for i, n := range stand.nodes {
		verb, uid := "adopt", there[n.Name]
		if uid == "" {
			verb, uid = "register", types.UID(fmt.Sprintf("rehearsal-%d", i))
		}
		say(verb + " nodes/" + n.Name)
		n = n.DeepCopy()
		n.UID = uid
		show.NodeSeen(watch.Added, n)
	}
	if was.Rolled {
		say("roll nothing: the roll is over")
		return nil
	}
	return r.planned(ctx, show, say)
}

// planned says how the rolls would begin.
func (r *run) planned(ctx context.Context, show performance, say func(string)) error {
	roll := r.file.Roll
	if roll == nil {
		return nil
	}
	if w := r.script.pods; w != nil {
		say(fmt.Sprintf("change the pods of %s/%s in place, %s into the scenario, by %s", w.Namespace, w.Name, roll.At, roll.Strategy))
	}
	stage := newStage(r.clock)
	env := newEnvironment(stage, show, func(ctx context.Context) error { return ctx.Err() })
	acting, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = stage.run(acting, func() (time.Duration, bool, error) { return time.Hour, false, nil }) // ends with acting
		stage.close()
	}()
	defer func() { end(); <-done }()
	for _, group := range roll.Groups {
		say(fmt.Sprintf("roll group %s, %s into the scenario, by %s", group, roll.At, roll.Strategy))
		if byCycle(roll) {
			if err := r.firstPlan(ctx, env, show, group, say); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstPlan says what the first plan of a group's roll is, and has it done by an
// environment that touches nothing.
func (r *run) firstPlan(ctx context.Context, env *environment, show performance, group string, say func(string)) error {
	if err := env.on(ctx, func() error { return show.Retarget(group) }); err != nil {
		return err
	}
	dry := cycle.DryRun(env)
	id, err := dry.LookupClusterID(ctx, group)
	if err != nil {
		return err
	}
	cluster, err := dry.DescribeCluster(ctx, id)
	if err != nil {
		return err
	}
	options := bounds(r.file.Roll, sizeOf(r.file, group))
	options.Now = environmentEpoch
	decision, err := cycle.Plan(cluster, options)
	if err != nil {
		return err
	}
	for _, s := range decision.Steps {
		say("  " + strings.TrimSpace(s.String()))
	}
	return cycle.Run(ctx, dry, decision.Tasks()...)
}

// A rehearsal is a World in which nothing is written.
type rehearsal struct {
	nodes   []*corev1.Node
	customs []rehearsedCustom
}

type rehearsedCustom struct {
	kind   scenarios.CustomKind
	object *unstructured.Unstructured
}

var _ scenarios.World = (*rehearsal)(nil)

func (r *rehearsal) Register(n *corev1.Node)    { r.nodes = append(r.nodes, n) }
func (*rehearsal) PostNode(*corev1.Node)        {}
func (*rehearsal) Beat(string, bool)            {}
func (*rehearsal) Retire(string)                {}
func (*rehearsal) PostPod(*corev1.Pod)          {}
func (*rehearsal) Record(scenarios.Report)      {}
func (*rehearsal) WriteNode(_, _ *corev1.Node)  {}
func (*rehearsal) DeleteNode(string, types.UID) {}
func (r *rehearsal) WriteCustom(kind scenarios.CustomKind, old, new *unstructured.Unstructured) {
	if old == nil {
		r.customs = append(r.customs, rehearsedCustom{kind, new})
	}
}
func (*rehearsal) DeleteCustom(scenarios.CustomKind, types.NamespacedName) {}
func (*rehearsal) WritePod(_, _ *corev1.Pod)                               {}
func (*rehearsal) Evict(types.NamespacedName, types.UID) error             { return nil }
func (*rehearsal) DeletePod(types.NamespacedName, types.UID, *int64) error { return nil }
func (*rehearsal) CreateWorkload([]runtime.Object)                         {}
func (*rehearsal) Scale(_, _, _ string, _ int32)                           {}
func (*rehearsal) Mark(_, _ string)                                        {}
func (*rehearsal) CreateVolume(*corev1.PersistentVolume)                   {}
func (*rehearsal) DeleteVolume(string, types.UID)                          {}
func (*rehearsal) WriteAttachment(_, _ *storagev1.VolumeAttachment)        {}
func (*rehearsal) PostDrivers(*storagev1.CSINode)                          {}
