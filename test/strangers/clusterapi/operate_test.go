package clusterapi

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	"sigs.k8s.io/cluster-api/core/setup"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/nodesim/nodesim/test/strangers/place"
)

// scheme has the kinds of Cluster API's main.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1beta1.AddToScheme, clusterv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

var managers atomic.Int32

// operate runs Cluster API's controllers of Clusters, MachineDeployments, MachineSets and Machines with the flags' defaults, as core/main.go of
// its module does, and the provider's beside them.
func operate(ctx context.Context, p *place.Place) error {
	unchecked, every := true, 10*time.Minute
	name := fmt.Sprintf("nodesim-%d", managers.Add(1)) // of informers: taken once in a process
	o := ctrl.Options{
		Scheme: scheme, Logger: place.Quiet(), Cache: setup.ManagerCacheOptions(scheme, name, "", every), Client: setup.ManagerClientOptions(),
		LeaderElection: true, LeaderElectionID: "controller-leader-election-capi", LeaderElectionNamespace: metav1.NamespaceSystem,
	}
	o.Metrics.BindAddress, o.Controller.SkipNameValidation = "0", &unchecked
	m, err := ctrl.NewManager(p.Config(), o)
	if err != nil {
		return err
	}
	if err := index.AddDefaultIndexes(ctx, m); err != nil {
		return err
	}
	secrets, err := setup.CreateSecretCachingClient(m)
	if err != nil {
		return err
	}
	cc, err := clustercache.SetupWithManager(ctx, m, clustercache.Options{
		SecretClient: secrets, Cache: setup.ClusterCacheCacheOptions(), Client: setup.ClusterCacheClientOptions(name, 20, 30),
	}, controller.Options{})
	if err != nil {
		return err
	}
	defer cc.(interface{ Shutdown() }).Shutdown()
	if err := addCore(ctx, m, cc); err != nil {
		return err
	}
	if err := addProvider(m); err != nil {
		return err
	}
	return m.Start(ctx)
}

func addCore(ctx context.Context, m ctrl.Manager, cc clustercache.ClusterCache) error {
	err := (&cluster.Reconciler{
		Client: m.GetClient(), APIReader: m.GetAPIReader(), ClusterCache: cc, RemoteConnectionGracePeriod: 50 * time.Second,
	}).SetupWithManager(ctx, m, controller.Options{})
	if err != nil {
		return err
	}
	err = (&machine.Reconciler{
		Client: m.GetClient(), APIReader: m.GetAPIReader(), ClusterCache: cc, RemoteConditionsGracePeriod: 5 * time.Minute,
	}).SetupWithManager(ctx, m, controller.Options{})
	if err != nil {
		return err
	}
	err = (&machineset.Reconciler{
		Client: m.GetClient(), APIReader: m.GetAPIReader(), ClusterCache: cc, PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll),
	}).SetupWithManager(ctx, m, controller.Options{})
	if err != nil {
		return err
	}
	return (&machinedeployment.Reconciler{Client: m.GetClient(), APIReader: m.GetAPIReader()}).SetupWithManager(ctx, m, controller.Options{})
}
