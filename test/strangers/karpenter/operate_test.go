package karpenter_test

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/nodesim/nodesim/test/strangers/place"
)

// kept holds the caches of controllers of the bubble that is over, whose finalizers would send to its channels.
var kept []any

// operate runs Karpenter's controllers with its kwok provider, as kwok/main.go of its module does. Its own operator takes flags,
// ports and a kubeconfig of the process.
func operate(ctx context.Context, p *place.Place) error {
	unchecked := true
	ctx = kwokoptions.ToContext(options.ToContext(ctx, &options.Options{
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second, DisableClusterStateObservability: true,
		PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict, IgnoreDRARequests: true, CPURequests: 1000,
	}), &kwokoptions.Options{})
	o := ctrl.Options{
		LeaderElection: true, LeaderElectionID: "karpenter-leader-election", LeaderElectionNamespace: metav1.NamespaceSystem, LeaderElectionReleaseOnCancel: true,
		BaseContext: func() context.Context { return context.WithoutCancel(ctx) },
	}
	o.Metrics.BindAddress, o.Controller.SkipNameValidation = "0", &unchecked
	m, err := ctrl.NewManager(p.Config(), o)
	if err != nil {
		return err
	}
	if err := index(ctx, m.GetFieldIndexer()); err != nil {
		return err
	}
	// Karpenter's state asks for CSINodes with its lock held. A cache that has no informer for them yet would poll
	// until it has them: time that doesn't pass in a bubble while others wait for the lock.
	if _, err := m.GetCache().GetInformer(ctx, &storagev1.CSINode{}); err != nil {
		return err
	}
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return err
	}
	clk := clock.RealClock{}
	provider := kwok.NewCloudProvider(ctx, m.GetClient(), types)
	recorder := events.NewRecorder(m.GetEventRecorderFor("karpenter")) //nolint:staticcheck // what Karpenter takes
	all := controllers.NewControllers(ctx, m, clk, m.GetClient(), recorder, provider, provider, state.NewCluster(clk, m.GetClient(), provider), nodeoverlay.NewInstanceTypeStore())
	kept = append(kept, all)
	for _, c := range all {
		if err := c.Register(ctx, m); err != nil {
			return err
		}
	}
	return m.Start(ctx)
}

// index adds the indexes that Karpenter's controllers ask for (pkg/operator/operator.go of its module).
func index(ctx context.Context, i client.FieldIndexer) error {
	return errors.Join(
		field(ctx, i, "spec.nodeName", func(o *corev1.Pod) string { return o.Spec.NodeName }),
		field(ctx, i, "spec.providerID", func(o *corev1.Node) string { return o.Spec.ProviderID }),
		field(ctx, i, "spec.nodeName", func(o *storagev1.VolumeAttachment) string { return o.Spec.NodeName }),
		field(ctx, i, "status.providerID", func(o *v1.NodeClaim) string { return o.Status.ProviderID }),
		field(ctx, i, "spec.nodeClassRef.group", func(o *v1.NodeClaim) string { return o.Spec.NodeClassRef.Group }),
		field(ctx, i, "spec.nodeClassRef.kind", func(o *v1.NodeClaim) string { return o.Spec.NodeClassRef.Kind }),
		field(ctx, i, "spec.nodeClassRef.name", func(o *v1.NodeClaim) string { return o.Spec.NodeClassRef.Name }),
		field(ctx, i, "spec.template.spec.nodeClassRef.group", func(o *v1.NodePool) string { return o.Spec.Template.Spec.NodeClassRef.Group }),
		field(ctx, i, "spec.template.spec.nodeClassRef.kind", func(o *v1.NodePool) string { return o.Spec.Template.Spec.NodeClassRef.Kind }),
		field(ctx, i, "spec.template.spec.nodeClassRef.name", func(o *v1.NodePool) string { return o.Spec.Template.Spec.NodeClassRef.Name }),
	)
}

func field[T any, P interface {
	*T
	client.Object
}](ctx context.Context, i client.FieldIndexer, name string, value func(P) string) error {
	return i.IndexField(ctx, P(new(T)), name, func(o client.Object) []string { return []string{value(o.(P))} })
}
