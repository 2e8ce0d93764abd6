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
func (p *Runner) DryRun(ctx context.Context, say func(string)) error {
	ctx = withoutKlog(ctx)
	r := &run{Runner: p}
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
	if err := r.findCustomKinds(ctx); err != nil {
		return err
	}
	record := "leases/" + RecordNamespace + "/" + RecordName
	if !there {
		say("create " + record)
	} else {
		r.lock = &checkpointLock{p: p, now: was}
		say("take over " + record + ", and resume " + was.At + " into the scenario")
		if err := r.find(ctx); err != nil {
			return fmt.Errorf("cluster %s: %w", p.config.Host, err)
		}
	}
	for _, kind := range r.undefined {
		say("create " + planned{definitionsResource, definitionOf(kind, r.label)}.key())
	}
	for _, o := range r.objects {
		line, err := r.apiServer.prerequisites.prospect(ctx, o)
		if err != nil {
			return err
		}
		say(line)
	}
	return r.dryRun(ctx, was, say)
}

// prospect says what would become of a planned object.
func (g *prerequisites) prospect(ctx context.Context, p planned) (string, error) {
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
	case p.stays():
		return "use " + p.key() + ", which stays", nil
	}
	return "", g.foreign(p)
}

// dryRun lets the nodes of 0s join nowhere, those that are there be adopted, and
// plans the rolls.
func (r *run) dryRun(ctx context.Context, was checkpoint, say func(string)) error {
	server := &dryRunServer{}
	sim, err := r.scenario.simulate(scenarios.LiveConfig{APIServer: server, Speed: r.speed, Now: r.clock.Now, ExternalRoller: true})
	if err != nil {
		return err
	}
	there := map[string]types.UID{}
	for _, n := range r.nodes {
		there[n.Name] = n.UID
	}
	if was.Begun {
		if err := sim.Adopt(r.nodes, r.lock.resumeAt(), was.Rolled); err != nil {
			return err
		}
	}
	sim.Seed()
	for _, o := range server.customResources {
		if !r.apiServer.customResources.writes(o.kind) {
			continue
		}
		line, err := r.apiServer.prerequisites.prospect(ctx, planned{o.kind.GroupVersionResource, o.object})
		if err != nil {
			return err
		}
		say(line)
	}
	for i, n := range server.nodes {
		verb, uid := "adopt", there[n.Name]
		if uid == "" {
			verb, uid = "register", types.UID(fmt.Sprintf("rehearsal-%d", i))
		}
		say(verb + " nodes/" + n.Name)
		n = n.DeepCopy()
		n.UID = uid
		sim.NodeSeen(watch.Added, n)
	}
	if was.Rolled {
		say("roll nothing: the roll is over")
		return nil
	}
	return r.planned(ctx, sim, say)
}

// planned says how the rolls would begin.
func (r *run) planned(ctx context.Context, sim simulation, say func(string)) error {
	roll := r.file.Roll
	if roll == nil {
		return nil
	}
	if w := r.scenario.pods; w != nil {
		say(fmt.Sprintf("change the pods of %s/%s in place, %s into the scenario, by %s", w.Namespace, w.Name, roll.At, roll.Strategy))
	}
	loop := newEventLoop(r.clock)
	env := newEnvironment(loop, sim, func(ctx context.Context) error { return ctx.Err() })
	acting, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = loop.run(acting, func() (time.Duration, bool, error) { return time.Hour, false, nil }) // ends with acting
		loop.close()
	}()
	defer func() { end(); <-done }()
	for _, group := range roll.Groups {
		say(fmt.Sprintf("roll group %s, %s into the scenario, by %s", group, roll.At, roll.Strategy))
		if byCycle(roll) {
			if err := r.firstPlan(ctx, env, sim, group, say); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstPlan says what the first plan of a group's roll is, and has it done by an
// environment that touches nothing.
func (r *run) firstPlan(ctx context.Context, env *environment, sim simulation, group string, say func(string)) error {
	if err := env.on(ctx, func() error { return sim.Retarget(group) }); err != nil {
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

// A dryRunServer is an APIServer in which nothing is written.
type dryRunServer struct {
	nodes           []*corev1.Node
	customResources []dryRunCustom
}

type dryRunCustom struct {
	kind   scenarios.CustomKind
	object *unstructured.Unstructured
}

var _ scenarios.APIServer = (*dryRunServer)(nil)

func (r *dryRunServer) Register(n *corev1.Node)    { r.nodes = append(r.nodes, n) }
func (*dryRunServer) PostNode(*corev1.Node)        {}
func (*dryRunServer) SetLeaseRenewal(string, bool) {}
func (*dryRunServer) ReleaseNode(string)           {}
func (*dryRunServer) PostPod(*corev1.Pod)          {}
func (*dryRunServer) Record(scenarios.Report)      {}
func (*dryRunServer) WriteNode(_, _ *corev1.Node)  {}
func (*dryRunServer) DeleteNode(string, types.UID) {}
func (r *dryRunServer) WriteCustom(kind scenarios.CustomKind, old, new *unstructured.Unstructured) {
	if old == nil {
		r.customResources = append(r.customResources, dryRunCustom{kind, new})
	}
}
func (*dryRunServer) DeleteCustom(scenarios.CustomKind, types.NamespacedName) {}
func (*dryRunServer) WritePod(_, _ *corev1.Pod)                               {}
func (*dryRunServer) Evict(types.NamespacedName, types.UID) error             { return nil }
func (*dryRunServer) DeletePod(types.NamespacedName, types.UID, *int64) error { return nil }
func (*dryRunServer) Bind(types.NamespacedName, types.UID, string)            {}
func (*dryRunServer) CreateWorkload([]runtime.Object)                         {}
func (*dryRunServer) Scale(_, _, _ string, _ int32)                           {}
func (*dryRunServer) Mark(_, _ string)                                        {}
func (*dryRunServer) CreateVolume(*corev1.PersistentVolume)                   {}
func (*dryRunServer) DeleteVolume(string, types.UID)                          {}
func (*dryRunServer) WriteAttachment(_, _ *storagev1.VolumeAttachment)        {}
func (*dryRunServer) PostDrivers(*storagev1.CSINode)                          {}
