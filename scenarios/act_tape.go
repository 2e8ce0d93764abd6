package scenarios

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// A Moment is a cluster at one moment of a tape.
type Moment struct {
	Header *timeline.Header
	At     time.Duration
	// Objects are those that are there, whole, by the header's resource.
	Objects map[timeline.Resource][][]byte
}

// ActOn makes a cluster that begins with what is there at a moment of a tape, and goes on by itself: its nodes have
// kubelets and machines at a provider, its workloads controllers. Of workloads whose pods alone are on the tape the
// objects are made up. Nothing continues the tape's roll: what it had begun stays as it is.
func ActOn(m Moment) (*Acting, error) {
	name := m.Header.Metadata.Name
	a, err := actOn(m)
	if err != nil {
		return nil, fmt.Errorf("tape %s at %s: %w", name, timeline.FormatAt(m.At), err)
	}
	return a, nil
}

func actOn(m Moment) (*Acting, error) {
	var there []*corev1.Node
	for _, raw := range m.Objects[nodes] {
		n := &corev1.Node{}
		if err := json.Unmarshal(raw, n); err != nil {
			return nil, fmt.Errorf("node %s: %w", rawjson.Text(raw, "metadata", "name"), err)
		}
		there = append(there, n)
	}
	observed, groups, err := spec.Observed(m.Header, there)
	if err != nil {
		return nil, err
	}
	f := &File{File: *observed}
	f.Start = m.Header.Metadata.Start.Add(m.At + afterTheMoment)
	// Another one than that of a simulation whose tape it is: its UIDs are there already.
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", m.Header.Metadata.Name, m.At)
	f.Seed = h.Sum64()
	a, err := newActing(f)
	if err != nil {
		return nil, err
	}
	t := &taking{Acting: a, moment: m, nodes: there}
	a.header.Resources = t.resources()
	a.sim.header.Resources = a.header.Resources
	return a, t.take(groups)
}

// afterTheMoment is when the cluster begins. Events are named after their moments, and there may be some of that very
// one.
const afterTheMoment = time.Millisecond

// taking takes over what is there at a moment.
type taking struct {
	*Acting
	moment Moment
	nodes  []*corev1.Node
	failed error
}

// resources are those of the tape and those of a cluster that acts. Where both have one, the cluster's version counts. Of
// two groups that serve the same Events one is enough.
func (t *taking) resources() []timeline.Resource {
	all := slices.Clone(t.header.Resources)
	for _, r := range t.moment.Header.Resources {
		same := func(o timeline.Resource) bool {
			return o.Resource == r.Resource && (o.Group == r.Group || r.Resource == events.Resource)
		}
		if !slices.ContainsFunc(all, same) {
			all = append(all, r)
		}
	}
	return all
}

// take builds the cluster: first what keeps pods, then the pods.
func (t *taking) take(groups []string) error {
	s := t.sim
	s.prepare()
	for i := range s.file.Groups {
		s.addGroup(&s.file.Groups[i])
	}
	s.places, s.providerIDs = map[*cloud.Instance]model.Place{}, map[*cloud.Instance]string{}
	machines := make([]*cloud.Instance, len(t.nodes))
	for i, n := range t.nodes {
		machines[i] = s.adoptMachine(s.env.Cloud.Group(groups[i]), n)
	}
	if err := s.startActors(); err != nil {
		return err
	}
	t.afterTheirVersions()
	for _, r := range t.header.Resources {
		if r != pods {
			t.addAll(r)
		}
	}
	t.addAll(pods) // last: their nodes and their owners are known
	if err := t.infer(); err != nil {
		return err
	}
	t.workloads.AddRevisions()
	t.seedNamespaces(t.presume())
	t.seedVolumes()
	if t.failed != nil {
		return t.failed
	}
	s.keepTape()
	s.env.After(0, func() { // the lists are complete
		for i, n := range t.nodes {
			s.kubelets.Take(machines[i], s.env.API.Node(n.Name))
		}
		s.kubelets.ResyncPods()
		s.seedProvider()
	})
	return nil
}

// objectsOf are the objects of a resource, in whatever version the tape has it: where it has several, the first by name.
func (t *taking) objectsOf(r timeline.Resource) [][]byte {
	if list, ok := t.moment.Objects[r]; ok {
		return list
	}
	other := timeline.Resource{}
	for o := range t.moment.Objects {
		if o.Resource == r.Resource && o.Group == r.Group && (other.Version == "" || o.Version < other.Version) {
			other = o
		}
	}
	list := make([][]byte, len(t.moment.Objects[other]))
	for i, raw := range t.moment.Objects[other] {
		list[i] = rawjson.Apply(nil, raw, fmt.Appendf(nil, `{"apiVersion":%q}`, r.APIVersion()))
	}
	return list
}

// afterTheirVersions has the versions of writes be higher than those of the objects.
func (t *taking) afterTheirVersions() {
	for _, list := range t.moment.Objects {
		for _, raw := range list {
			if v, err := strconv.ParseUint(rawjson.Text(raw, "metadata", "resourceVersion"), 10, 64); err == nil {
				t.sim.env.API.After(v)
			}
		}
	}
}

// addAll adds the objects of a resource as they are, but for what other controllers wrote of volumes: the cluster's own
// attaches them anew.
func (t *taking) addAll(r timeline.Resource) {
	for _, raw := range t.objectsOf(r) {
		if r == nodes && rawjson.Get(raw, "status", "volumesAttached") != nil {
			raw = rawjson.Apply(nil, raw, []byte(`{"status":{"volumesAttached":null}}`))
		}
		t.add(r, raw)
	}
}

// add adds an object as it is.
func (t *taking) add(r timeline.Resource, raw []byte) {
	if rawjson.Text(raw, "metadata", "resourceVersion") == "" {
		raw = rawjson.Apply(nil, raw, fmt.Appendf(nil, `{"metadata":{"resourceVersion":"%d"}}`, t.sim.env.API.NextVersion()))
	}
	ev := timeline.Event{
		Type: timeline.Added, Resource: t.header.Key(r), Object: raw, UID: rawjson.Text(raw, "metadata", "uid"),
		Namespace: rawjson.Text(raw, "metadata", "namespace"), Name: rawjson.Text(raw, "metadata", "name"),
		RV: rawjson.Text(raw, "metadata", "resourceVersion"),
	}
	t.made = append(t.made, ev)
	t.objects.Saw(&ev)
	if r == events {
		t.objects.ExpireEvent(&ev)
	}
	if _, err := t.put(r, &ev); err != nil && t.failed == nil {
		t.failed = fmt.Errorf("%s %s/%s: %w", r, ev.Namespace, ev.Name, err)
	}
}

// presume has owners that are neither on the tape nor made up be there, so that what they own isn't taken for garbage,
// and returns the namespaces of all that is there.
func (t *taking) presume() (namespaces map[string]bool) {
	namespaces = map[string]bool{}
	for _, list := range t.moment.Objects {
		for _, raw := range list {
			if namespace := rawjson.Text(raw, "metadata", "namespace"); namespace != "" {
				namespaces[namespace] = true
			}
			for ref := range rawjson.Elements(rawjson.Get(raw, "metadata", "ownerReferences")) {
				t.objects.Presume(types.UID(rawjson.Text(ref, "uid")))
			}
		}
	}
	return namespaces
}

// adoptMachine tells the provider of the machine of a node. One whose kubelet isn't heard stays silent.
func (s *Simulation) adoptMachine(g *cloud.Group, n *corev1.Node) *cloud.Instance {
	i := &cloud.Instance{
		Name: n.Name, Zone: n.Labels[corev1.LabelTopologyZone], Template: g.Template,
		ID: n.Spec.ProviderID[strings.LastIndexByte(n.Spec.ProviderID, '/')+1:],
	}
	if i.ID == "" {
		i.ID = n.Name
	}
	if s.env.Cloud.Instance(i.ID) != nil {
		i.ID += "-" + n.Name
	}
	if v := n.Status.NodeInfo.KubeletVersion; v != "" {
		i.Template.Version = v
	}
	place := model.Place{Zone: i.Zone}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			i.IP = a.Address
		}
	}
	place.IP, _ = netip.ParseAddr(i.IP)
	place.PodCIDR, _ = netip.ParsePrefix(n.Spec.PodCIDR)
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			i.Ailments.KubeletDown = c.Status == corev1.ConditionUnknown
		}
	}
	s.env.Cloud.Adopt(g, i)
	place.Ordinal = i.Number
	if !place.IP.IsValid() {
		place.IP = s.place(i).IP
	}
	s.places[i], s.providerIDs[i] = place, n.Spec.ProviderID
	return i
}
