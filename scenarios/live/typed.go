package live

import (
	"net/http"

	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	policyv1client "k8s.io/client-go/kubernetes/typed/policy/v1"
	storagev1client "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// typed are the clients of the groups that a live run writes to. kubernetes.Interface, which has these methods too, links
// the clients of all groups.
type typed interface {
	AppsV1() appsv1client.AppsV1Interface
	AuthorizationV1() authorizationv1client.AuthorizationV1Interface
	CoordinationV1() coordinationv1client.CoordinationV1Interface
	CoreV1() corev1client.CoreV1Interface
	EventsV1() eventsv1client.EventsV1Interface
	PolicyV1() policyv1client.PolicyV1Interface
	StorageV1() storagev1client.StorageV1Interface
}

// typedClients are typed on one connection.
type typedClients struct {
	apps          *appsv1client.AppsV1Client
	authorization *authorizationv1client.AuthorizationV1Client
	coordination  *coordinationv1client.CoordinationV1Client
	core          *corev1client.CoreV1Client
	events        *eventsv1client.EventsV1Client
	policy        *policyv1client.PolicyV1Client
	storage       *storagev1client.StorageV1Client
}

// newTyped makes the clients. They share one rate limiter, as those of a clientset do (kubernetes.NewForConfigAndClient).
func newTyped(config *rest.Config, over *http.Client) (*typedClients, error) {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if config.RateLimiter == nil && config.QPS > 0 {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
	}
	var c typedClients
	var err error
	if c.apps, err = appsv1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	if c.authorization, err = authorizationv1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	if c.coordination, err = coordinationv1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	if c.core, err = corev1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	if c.events, err = eventsv1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	if c.policy, err = policyv1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	if c.storage, err = storagev1client.NewForConfigAndClient(config, over); err != nil {
		return nil, err
	}
	return &c, nil
}

func (c *typedClients) AppsV1() appsv1client.AppsV1Interface { return c.apps }

func (c *typedClients) AuthorizationV1() authorizationv1client.AuthorizationV1Interface {
	return c.authorization
}

func (c *typedClients) CoordinationV1() coordinationv1client.CoordinationV1Interface {
	return c.coordination
}

func (c *typedClients) CoreV1() corev1client.CoreV1Interface { return c.core }

func (c *typedClients) EventsV1() eventsv1client.EventsV1Interface { return c.events }

func (c *typedClients) PolicyV1() policyv1client.PolicyV1Interface { return c.policy }

func (c *typedClients) StorageV1() storagev1client.StorageV1Interface { return c.storage }
