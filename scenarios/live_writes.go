package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// remote is the writing half of a LiveSimulation: the actors' writes.
type remote struct{ *LiveSimulation }

func (p remote) fail(err error) { p.sim.env.Fail(err) }

func (p remote) NodeWritten(c kube.Change, old, n *kube.Node) {
	if c == kube.Deleted {
		seen := p.nodes[n.Name]
		if seen == nil {
			return
		}
		seen.deleted = seen.uid
		p.apiServer.DeleteNode(n.Name, seen.uid)
		return
	}
	is, err := convert.NodeToAPI(n, p.clock)
	if err != nil {
		p.fail(err)
		return
	}
	is.UID = p.uidOf(n.Name)
	if c == kube.Added {
		is.Annotations = maps.Clone(is.Annotations)
		if is.Annotations == nil {
			is.Annotations = map[string]string{}
		}
		is.Annotations[AnnotationMachine] = p.machineAnnotation(n.Name)
		p.nodes[n.Name] = &seenNode{labels: maps.Clone(is.Labels), notes: maps.Clone(is.Annotations)}
		is.UID = ""
		p.apiServer.Register(is)
		p.disks.postDrivers(nil, is)
		return
	}
	was, err := convert.NodeToAPI(old, p.clock)
	if err != nil {
		p.fail(err)
		return
	}
	was.UID = is.UID
	if is.DeletionTimestamp != nil && was.DeletionTimestamp == nil {
		p.apiServer.DeleteNode(n.Name, is.UID) // which finalizers hold
	}
	p.disks.postDrivers(was, is)
	was.DeletionTimestamp, is.DeletionTimestamp = nil, nil
	was.Status.VolumesAttached, is.Status.VolumesAttached = nil, nil // the attach-detach controller's
	if !reflect.DeepEqual(was.Status, is.Status) {
		post := is.DeepCopy()
		if seen := p.nodes[n.Name]; seen != nil {
			post.Labels, post.Annotations = maps.Clone(seen.labels), maps.Clone(seen.notes)
		}
		p.apiServer.PostNode(post)
	}
	was.Status, is.Status = corev1.NodeStatus{}, corev1.NodeStatus{}
	if !reflect.DeepEqual(was, is) {
		p.apiServer.WriteNode(was, is)
	}
}

func (p remote) uidOf(node string) types.UID {
	if seen := p.nodes[node]; seen != nil {
		return seen.uid
	}
	return ""
}

// machineAnnotation is the annotation's record of a node's machine.
func (p remote) machineAnnotation(node string) string {
	i := p.sim.env.Cloud.ByNode(node)
	if i == nil {
		return "{}"
	}
	m := machine{Number: i.Number, Group: i.Group.Name, Zone: i.Zone, Template: i.Template}
	for _, cause := range [...]spec.NeverReadyCause{spec.CauseCNI, spec.CauseKubelet} {
		if i.Ailments == ailmentsOf(&spec.NeverReady{Cause: cause}) {
			m.Ail = cause
		}
	}
	note, err := json.Marshal(m)
	if err != nil { // numbers and strings
		p.fail(err)
	}
	return string(note)
}

// annotatedMachine reads a node's note.
func annotatedMachine(n *corev1.Node) (machine, error) {
	note, ok := n.Annotations[AnnotationMachine]
	if !ok {
		return machine{}, fmt.Errorf("it has no annotation %s: it isn't a machine of a live run", AnnotationMachine)
	}
	var m machine
	if err := json.Unmarshal([]byte(note), &m); err != nil || m.Number < 0 || m.Number > 1<<30 {
		return machine{}, fmt.Errorf("annotation %s: found %.80q, want what nodesim wrote there", AnnotationMachine, note)
	}
	return m, nil
}

func (p remote) PodWritten(c kube.Change, old, pod *kube.Pod) {
	if c != kube.Modified {
		return
	}
	if !reflect.DeepEqual(convert.PodStatus(old, p.clock), convert.PodStatus(pod, p.clock)) {
		p.apiServer.PostPod(convert.PostedPod(pod, p.clock))
	}
	if slices.Equal(old.Labels, pod.Labels) && slices.Equal(old.Annotations, pod.Annotations) && slices.Equal(old.Finalizers, pod.Finalizers) {
		return
	}
	is, err := convert.PodToAPI(pod, p.clock)
	if err != nil {
		p.fail(err)
		return
	}
	was, err := convert.PodToAPI(old, p.clock)
	if err != nil {
		p.fail(err)
		return
	}
	p.apiServer.WritePod(was, is)
}

func (p remote) Evict(pod *kube.Pod) *kube.Refusal {
	err := p.apiServer.Evict(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, types.UID(pod.UID))
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	no := &kube.Refusal{Code: http.StatusServiceUnavailable, Message: err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		no.Code, no.Message = int(s.Code), s.Message
		if d := s.Details; d != nil {
			for _, cause := range d.Causes {
				if cause.Type == policyv1.DisruptionBudgetCause {
					no.Cause = cause.Message
				}
			}
		}
	}
	return no
}

func (p remote) DeletePod(pod *kube.Pod, grace int64) {
	var seconds *int64
	if grace != kube.OwnGrace {
		seconds = &grace
	}
	err := p.apiServer.DeletePod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, types.UID(pod.UID), seconds)
	if err != nil && !apierrors.IsNotFound(err) {
		// Who wanted it deleted looks again, as it does where a kubelet is slow.
		p.apiServer.Mark("refused", fmt.Sprintf("delete pod %s/%s: %v", pod.Namespace, pod.Name, err))
	}
}

func (p remote) Recorded(from kube.Source, about kube.Reference, kind, reason, action, message string) {
	ref := corev1.ObjectReference{
		APIVersion: about.APIVersion, Kind: about.Kind, Namespace: about.Namespace, Name: about.Name,
		UID: types.UID(about.UID), FieldPath: about.FieldPath,
	}
	if ref.Kind == "Node" && about.UID != about.Name {
		ref.UID = p.uidOf(about.Name)
	}
	p.apiServer.Record(Report{Component: from.Component, Host: from.Host, About: ref, Type: kind, Reason: reason, Action: action, Message: message})
}

func (p remote) SetLeaseRenewal(node string, is bool) { p.apiServer.SetLeaseRenewal(node, is) }

func (p remote) Marked(name, reason string) { p.apiServer.Mark(name, reason) }
