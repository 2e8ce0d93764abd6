package analysis

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
)

// decoders decode what an analysis looks at into what is used again and again.
type decoders struct {
	kubejson.Decoder // brief

	node                   corev1.Node
	pod                    podText
	told                   podTold
	asked                  []containerText // reused
	statuses, initStatuses []containerText
}

// containerText is what a pod says of a container: in its spec, or in its status.
type containerText struct {
	name, image string
	resources   []byte // where a change of them restarts it
	restarts    int
}

// podTold says of which parts a text speaks.
type podTold uint16

const (
	toldLabels podTold = 1 << iota
	toldMirror
	toldOwner
	toldDeleting
	toldGrace
	toldFinalizers
	toldNode
	toldPhase
	toldConditions
	toldContainers
	toldInit
	toldSpec
)

// podText is what a text says of a pod.
type podText struct {
	labels              []byte
	mirror              bool
	ownerKind, owner    string
	deleting            bool
	grace               int64
	finalizers          bool
	node, phase         string
	ready               bool
	unscheduled, reason string // reason and message of PodScheduled while that isn't True
	disruption          string
	asked, statuses     []containerText // good until the next text is read
	restarts            int             // of the containers
	initRestarts        int
	waiting, message    string // of the first container that waits
}

// readPod reads a whole pod, or a patch of one.
func (d *decoders) readPod(raw []byte) (*podText, podTold) {
	d.pod, d.told = podText{}, 0
	w := rawjson.Walk(raw)
	for name := range w.Members() {
		switch string(name) {
		case "metadata":
			d.podMeta(&w)
		case "spec":
			for name := range w.Members() {
				switch string(name) {
				case "nodeName":
					d.told |= toldNode
					d.pod.node = d.word(&w)
				case "containers":
					d.told |= toldSpec
					d.containersAsked(&w)
				default:
					w.Value()
				}
			}
		case "status":
			d.podStatus(&w)
		default:
			w.Value()
		}
	}
	return &d.pod, d.told
}

func (d *decoders) word(w *rawjson.Walker) string {
	s, _ := d.Words.Text(w.Value())
	return s
}

func (d *decoders) podMeta(w *rawjson.Walker) {
	p := &d.pod
	for name := range w.Members() {
		switch string(name) {
		case "labels":
			d.told |= toldLabels
			p.labels = w.Value()
		case "annotations":
			raw := w.Value()
			if mirror := rawjson.Get(raw, corev1.MirrorPodAnnotationKey); mirror != nil || !rawjson.IsObject(raw) {
				d.told |= toldMirror
				p.mirror = mirror != nil && string(mirror) != "null"
			}
		case "deletionTimestamp":
			d.told |= toldDeleting
			p.deleting = string(w.Value()) != "null"
		case "deletionGracePeriodSeconds":
			d.told |= toldGrace
			p.grace, _ = kubejson.Integer(w.Value())
		case "finalizers":
			d.told |= toldFinalizers
			for range w.Elements() {
				p.finalizers = true
				w.Value()
			}
		case "ownerReferences":
			d.told |= toldOwner
			d.owners(w)
		default:
			w.Value()
		}
	}
}

// owners finds the owner that controls the pod.
func (d *decoders) owners(w *rawjson.Walker) {
	for range w.Elements() {
		var kind, owner string
		controls := false
		for name := range w.Members() {
			switch string(name) {
			case "kind":
				kind = d.word(w)
			case "name":
				owner = d.word(w)
			case "controller":
				controls = string(w.Value()) == "true"
			default:
				w.Value()
			}
		}
		if controls || d.pod.owner == "" {
			d.pod.ownerKind, d.pod.owner = kind, owner
		}
	}
}

func (d *decoders) podStatus(w *rawjson.Walker) {
	p := &d.pod
	for name := range w.Members() {
		switch string(name) {
		case "phase":
			d.told |= toldPhase
			p.phase = d.word(w)
		case "conditions":
			d.told |= toldConditions
			for range w.Elements() {
				d.podCondition(w)
			}
		case "containerStatuses":
			d.told |= toldContainers
			p.restarts = d.containers(w, &d.statuses)
			p.statuses = d.statuses
		case "initContainerStatuses":
			d.told |= toldInit
			p.initRestarts = d.containers(w, &d.initStatuses)
		default:
			w.Value()
		}
	}
}

func (d *decoders) podCondition(w *rawjson.Walker) {
	p := &d.pod
	var typ, status, reason, message string
	for name := range w.Members() {
		switch string(name) {
		case "type":
			typ = d.word(w)
		case "status":
			status = d.word(w)
		case "reason":
			reason = d.word(w)
		case "message":
			message = d.word(w)
		default:
			w.Value()
		}
	}
	is := status == string(corev1.ConditionTrue)
	switch corev1.PodConditionType(typ) {
	case corev1.PodReady:
		p.ready = is
	case corev1.DisruptionTarget:
		if is {
			p.disruption = reason
		}
	case corev1.PodScheduled:
		if !is {
			p.reason, p.unscheduled = reason, message
		}
	}
}

// containers counts the restarts, and finds what the first of those that wait waits for.
func (d *decoders) containers(w *rawjson.Walker, all *[]containerText) (restarts int) {
	*all = (*all)[:0]
	for range w.Elements() {
		var c containerText
		for name := range w.Members() {
			switch string(name) {
			case "name":
				c.name = d.word(w)
			case "restartCount":
				n, _ := kubejson.Integer(w.Value())
				c.restarts = int(max(n, 0))
			case "state":
				d.state(w)
			default:
				w.Value()
			}
		}
		restarts += c.restarts
		*all = append(*all, c)
	}
	return restarts
}

// containersAsked reads what the containers are to be.
func (d *decoders) containersAsked(w *rawjson.Walker) {
	d.asked = d.asked[:0]
	for range w.Elements() {
		var c containerText
		var policy []byte
		for name := range w.Members() {
			switch string(name) {
			case "name":
				c.name = d.word(w)
			case "image":
				c.image = d.word(w)
			case "resources":
				c.resources = w.Value()
			case "resizePolicy":
				policy = w.Value()
			default:
				w.Value()
			}
		}
		if !bytes.Contains(policy, []byte(corev1.RestartContainer)) {
			c.resources = nil
		}
		d.asked = append(d.asked, c)
	}
	d.pod.asked = d.asked
}

func (d *decoders) state(w *rawjson.Walker) {
	for name := range w.Members() {
		if string(name) != "waiting" || d.pod.waiting != "" {
			w.Value()
			continue
		}
		for name := range w.Members() {
			switch string(name) {
			case "reason":
				d.pod.waiting = d.word(w)
			case "message":
				d.pod.message = d.word(w)
			default:
				w.Value()
			}
		}
	}
}
