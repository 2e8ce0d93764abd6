package live

import (
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes/fake"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	policyv1client "k8s.io/client-go/kubernetes/typed/policy/v1"
	storagev1client "k8s.io/client-go/kubernetes/typed/storage/v1"

	"github.com/nodesim/nodesim/internal/kubeclient"
)

// faked is client-go's fake clientset as a client of a live run.
func faked(c *fake.Clientset) kubeclient.Interface { return fakeKube{c} }

type fakeKube struct{ *fake.Clientset }

func (f fakeKube) AppsV1() kubeclient.AppsV1 { return fakeApps{f.Clientset.AppsV1()} }

func (f fakeKube) AuthorizationV1() kubeclient.AuthorizationV1 {
	return fakeAuthorization{f.Clientset.AuthorizationV1()}
}

func (f fakeKube) CoordinationV1() kubeclient.CoordinationV1 {
	return fakeCoordination{f.Clientset.CoordinationV1()}
}

func (f fakeKube) CoreV1() kubeclient.CoreV1       { return fakeCore{f.Clientset.CoreV1()} }
func (f fakeKube) EventsV1() kubeclient.EventsV1   { return fakeEvents{f.Clientset.EventsV1()} }
func (f fakeKube) PolicyV1() kubeclient.PolicyV1   { return fakePolicy{f.Clientset.PolicyV1()} }
func (f fakeKube) StorageV1() kubeclient.StorageV1 { return fakeStorage{f.Clientset.StorageV1()} }

type fakeApps struct{ appsv1client.AppsV1Interface }

func (f fakeApps) Deployments(namespace string) kubeclient.Resource[*appsv1.Deployment, *appsv1.DeploymentList] {
	return f.AppsV1Interface.Deployments(namespace)
}

func (f fakeApps) ReplicaSets(namespace string) kubeclient.Resource[*appsv1.ReplicaSet, *appsv1.ReplicaSetList] {
	return f.AppsV1Interface.ReplicaSets(namespace)
}

func (f fakeApps) StatefulSets(namespace string) kubeclient.Resource[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
	return f.AppsV1Interface.StatefulSets(namespace)
}

type fakeAuthorization struct {
	authorizationv1client.AuthorizationV1Interface
}

func (f fakeAuthorization) SelfSubjectAccessReviews() kubeclient.Creator[*authorizationv1.SelfSubjectAccessReview] {
	return f.AuthorizationV1Interface.SelfSubjectAccessReviews()
}

type fakeCoordination struct {
	coordinationv1client.CoordinationV1Interface
}

func (f fakeCoordination) Leases(namespace string) kubeclient.Resource[*coordinationv1.Lease, *coordinationv1.LeaseList] {
	return f.CoordinationV1Interface.Leases(namespace)
}

type fakeCore struct{ corev1client.CoreV1Interface }

func (f fakeCore) Events(namespace string) kubeclient.Resource[*corev1.Event, *corev1.EventList] {
	return f.CoreV1Interface.Events(namespace)
}

func (f fakeCore) Nodes() kubeclient.Resource[*corev1.Node, *corev1.NodeList] {
	return f.CoreV1Interface.Nodes()
}

func (f fakeCore) PersistentVolumeClaims(namespace string) kubeclient.Resource[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList] {
	return f.CoreV1Interface.PersistentVolumeClaims(namespace)
}

func (f fakeCore) PersistentVolumes() kubeclient.Resource[*corev1.PersistentVolume, *corev1.PersistentVolumeList] {
	return f.CoreV1Interface.PersistentVolumes()
}

func (f fakeCore) Pods(namespace string) kubeclient.WithStatus[*corev1.Pod, *corev1.PodList] {
	return f.CoreV1Interface.Pods(namespace)
}

type fakeEvents struct {
	eventsv1client.EventsV1Interface
}

func (f fakeEvents) Events(namespace string) kubeclient.Resource[*eventsv1.Event, *eventsv1.EventList] {
	return f.EventsV1Interface.Events(namespace)
}

type fakePolicy struct {
	policyv1client.PolicyV1Interface
}

func (f fakePolicy) PodDisruptionBudgets(namespace string) kubeclient.Resource[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList] {
	return f.PolicyV1Interface.PodDisruptionBudgets(namespace)
}

type fakeStorage struct {
	storagev1client.StorageV1Interface
}

func (f fakeStorage) CSINodes() kubeclient.Resource[*storagev1.CSINode, *storagev1.CSINodeList] {
	return f.StorageV1Interface.CSINodes()
}

func (f fakeStorage) VolumeAttachments() kubeclient.Resource[*storagev1.VolumeAttachment, *storagev1.VolumeAttachmentList] {
	return f.StorageV1Interface.VolumeAttachments()
}
