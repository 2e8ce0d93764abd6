// Package kubeclient has clients of the resources that live runs and nodesim watch use, as Go types. client-go's typed clients
// (k8s.io/client-go/kubernetes) do the same, and link the types, apply configurations and OpenAPI of every group of
// Kubernetes, 59 packages more; requests, their retries and rate limits are client-go's here too.
//
// Methods are called as client-go's are, client.CoreV1().Pods(namespace).Get(…), so that each interface is one that
// client-go's clients and fakes have as well.
package kubeclient

import (
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// Interface is a client of all groups of this package.
type Interface interface {
	AppsV1() AppsV1
	AuthorizationV1() AuthorizationV1
	CoordinationV1() CoordinationV1
	CoreV1() CoreV1
	EventsV1() EventsV1
	PolicyV1() PolicyV1
	StorageV1() StorageV1
}

// The groups, each with the resources that are used.
type (
	// AppsV1 is the client of apps/v1.
	AppsV1 interface {
		Deployments(namespace string) Resource[*appsv1.Deployment, *appsv1.DeploymentList]
		ReplicaSets(namespace string) Resource[*appsv1.ReplicaSet, *appsv1.ReplicaSetList]
		StatefulSets(namespace string) Resource[*appsv1.StatefulSet, *appsv1.StatefulSetList]
	}

	// AuthorizationV1 is the client of authorization.k8s.io/v1.
	AuthorizationV1 interface {
		SelfSubjectAccessReviews() Creator[*authorizationv1.SelfSubjectAccessReview]
	}

	// CoordinationV1 is the client of coordination.k8s.io/v1.
	CoordinationV1 interface {
		Leases(namespace string) Resource[*coordinationv1.Lease, *coordinationv1.LeaseList]
	}

	// CoreV1 is the client of v1. RESTClient makes requests of its resources that have no method here.
	CoreV1 interface {
		RESTClient() rest.Interface
		Events(namespace string) Resource[*corev1.Event, *corev1.EventList]
		Nodes() Resource[*corev1.Node, *corev1.NodeList]
		PersistentVolumeClaims(namespace string) Resource[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList]
		PersistentVolumes() Resource[*corev1.PersistentVolume, *corev1.PersistentVolumeList]
		Pods(namespace string) WithStatus[*corev1.Pod, *corev1.PodList]
	}

	// EventsV1 is the client of events.k8s.io/v1.
	EventsV1 interface {
		Events(namespace string) Resource[*eventsv1.Event, *eventsv1.EventList]
	}

	// PolicyV1 is the client of policy/v1.
	PolicyV1 interface {
		PodDisruptionBudgets(namespace string) Resource[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList]
	}

	// StorageV1 is the client of storage.k8s.io/v1.
	StorageV1 interface {
		CSINodes() Resource[*storagev1.CSINode, *storagev1.CSINodeList]
		VolumeAttachments() Resource[*storagev1.VolumeAttachment, *storagev1.VolumeAttachmentList]
	}
)

// Client is an Interface on one connection.
type Client struct {
	apps, authorization, coordination, core, events, policy, storage rest.Interface
}

var _ Interface = (*Client)(nil)

// New returns a client of the cluster that the config names, over the HTTP client, or one of its own where that is nil. Where
// the config names no content type, it is protobuf. The groups share one rate limiter, as in a clientset.
func New(config *rest.Config, over *http.Client) (*Client, error) {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if config.ContentType == "" && config.AcceptContentTypes == "" {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	if config.RateLimiter == nil && config.QPS > 0 {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
	}
	config.NegotiatedSerializer = apischeme.Codecs().WithoutConversion()
	if over == nil {
		var err error
		if over, err = rest.HTTPClientFor(config); err != nil {
			return nil, err
		}
	}
	c := &Client{}
	for _, group := range []struct {
		client  *rest.Interface
		version schema.GroupVersion
	}{
		{&c.apps, appsv1.SchemeGroupVersion},
		{&c.authorization, authorizationv1.SchemeGroupVersion},
		{&c.coordination, coordinationv1.SchemeGroupVersion},
		{&c.core, corev1.SchemeGroupVersion},
		{&c.events, eventsv1.SchemeGroupVersion},
		{&c.policy, policyv1.SchemeGroupVersion},
		{&c.storage, storagev1.SchemeGroupVersion},
	} {
		config.GroupVersion, config.APIPath = &group.version, "/apis"
		if group.version.Group == "" {
			config.APIPath = "/api"
		}
		client, err := rest.RESTClientForConfigAndClient(config, over)
		if err != nil {
			return nil, err
		}
		*group.client = client
	}
	return c, nil
}

// Methods of the groups. Each group is a type of one REST client.
type (
	appsClient          struct{ rest.Interface }
	authorizationClient struct{ rest.Interface }
	coordinationClient  struct{ rest.Interface }
	coreClient          struct{ rest.Interface }
	eventsClient        struct{ rest.Interface }
	policyClient        struct{ rest.Interface }
	storageClient       struct{ rest.Interface }
)

// AppsV1 implements Interface.
func (c *Client) AppsV1() AppsV1 { return appsClient{c.apps} }

// AuthorizationV1 implements Interface.
func (c *Client) AuthorizationV1() AuthorizationV1 { return authorizationClient{c.authorization} }

// CoordinationV1 implements Interface.
func (c *Client) CoordinationV1() CoordinationV1 { return coordinationClient{c.coordination} }

// CoreV1 implements Interface.
func (c *Client) CoreV1() CoreV1 { return coreClient{c.core} }

// EventsV1 implements Interface.
func (c *Client) EventsV1() EventsV1 { return eventsClient{c.events} }

// PolicyV1 implements Interface.
func (c *Client) PolicyV1() PolicyV1 { return policyClient{c.policy} }

// StorageV1 implements Interface.
func (c *Client) StorageV1() StorageV1 { return storageClient{c.storage} }

func (c appsClient) Deployments(namespace string) Resource[*appsv1.Deployment, *appsv1.DeploymentList] {
	return of[appsv1.Deployment, appsv1.DeploymentList](c, namespace, "deployments")
}

func (c appsClient) ReplicaSets(namespace string) Resource[*appsv1.ReplicaSet, *appsv1.ReplicaSetList] {
	return of[appsv1.ReplicaSet, appsv1.ReplicaSetList](c, namespace, "replicasets")
}

func (c appsClient) StatefulSets(namespace string) Resource[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
	return of[appsv1.StatefulSet, appsv1.StatefulSetList](c, namespace, "statefulsets")
}

func (c authorizationClient) SelfSubjectAccessReviews() Creator[*authorizationv1.SelfSubjectAccessReview] {
	return creator[authorizationv1.SelfSubjectAccessReview, *authorizationv1.SelfSubjectAccessReview]{c, "", "selfsubjectaccessreviews"}
}

func (c coordinationClient) Leases(namespace string) Resource[*coordinationv1.Lease, *coordinationv1.LeaseList] {
	return of[coordinationv1.Lease, coordinationv1.LeaseList](c, namespace, "leases")
}

func (c coreClient) RESTClient() rest.Interface { return c.Interface }

func (c coreClient) Events(namespace string) Resource[*corev1.Event, *corev1.EventList] {
	return of[corev1.Event, corev1.EventList](c, namespace, "events")
}

func (c coreClient) Nodes() Resource[*corev1.Node, *corev1.NodeList] {
	return of[corev1.Node, corev1.NodeList](c, "", "nodes")
}

func (c coreClient) PersistentVolumeClaims(namespace string) Resource[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList] {
	return of[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](c, namespace, "persistentvolumeclaims")
}

func (c coreClient) PersistentVolumes() Resource[*corev1.PersistentVolume, *corev1.PersistentVolumeList] {
	return of[corev1.PersistentVolume, corev1.PersistentVolumeList](c, "", "persistentvolumes")
}

func (c coreClient) Pods(namespace string) WithStatus[*corev1.Pod, *corev1.PodList] {
	return of[corev1.Pod, corev1.PodList](c, namespace, "pods")
}

func (c eventsClient) Events(namespace string) Resource[*eventsv1.Event, *eventsv1.EventList] {
	return of[eventsv1.Event, eventsv1.EventList](c, namespace, "events")
}

func (c policyClient) PodDisruptionBudgets(namespace string) Resource[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList] {
	return of[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](c, namespace, "poddisruptionbudgets")
}

func (c storageClient) CSINodes() Resource[*storagev1.CSINode, *storagev1.CSINodeList] {
	return of[storagev1.CSINode, storagev1.CSINodeList](c, "", "csinodes")
}

func (c storageClient) VolumeAttachments() Resource[*storagev1.VolumeAttachment, *storagev1.VolumeAttachmentList] {
	return of[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](c, "", "volumeattachments")
}
