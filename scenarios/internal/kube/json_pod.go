package kube

import (
	"slices"
	"strconv"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/internal/rawjson"
)

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

func (w *writer) bool(plain string, v bool) {
	if v {
		w.raw(plain, "true")
	} else {
		w.raw(plain, "false")
	}
}

// pod writes what differs between two states of a pod; from a zero Pod it writes the whole. Members have the order of
// the Go types of k8s.io/api.
func (w *writer) pod(old, p *Pod) {
	whole := old.UID == ""
	generate := ""
	if !whole && old.Template != nil {
		generate = old.Template.GenerateName
	}
	w.metadata(&old.Meta, &p.Meta, generate, p.Template.GenerateName)
	w.begin("spec")
	switch {
	case whole:
		w.podSpec(p)
	case old.Template != p.Template && !slices.Equal(old.Template.Containers, p.Template.Containers):
		w.containerSpecs(p.Template)
	}
	w.text("nodeName", old.NodeName, p.NodeName)
	if whole {
		w.podSpecEnd(p)
	}
	w.end()
	w.begin("status")
	w.number("observedGeneration", old.ObservedGeneration, p.ObservedGeneration)
	w.text("phase", old.Phase, p.Phase)
	w.conditions(old.Conditions, p.Conditions, ofPod)
	w.text("message", old.Message, p.Message)
	w.text("reason", old.Reason, p.Reason)
	w.text("nominatedNodeName", old.Nominated, p.Nominated)
	w.text("hostIP", old.HostIP, p.HostIP)
	if old.HostIP != p.HostIP {
		w.ips("hostIPs", p.HostIP)
	}
	w.text("podIP", old.PodIP, p.PodIP)
	if old.PodIP != p.PodIP {
		w.ips("podIPs", p.PodIP)
	}
	w.time("startTime", old.Started.Second(), p.Started.Second())
	w.containers("initContainerStatuses", old.Init, p.Init)
	w.containers("containerStatuses", old.Containers, p.Containers)
	if whole {
		w.text("qosClass", "", p.qos())
	}
	w.end()
}

// ips writes a list of one address. kwok fills in podIPs, but not hostIPs; a
// kubelet does both.
func (w *writer) ips(name, ip string) {
	if ip == "" {
		w.null(name)
		return
	}
	w.list(name)
	w.brace()
	w.str("ip", ip)
	w.close()
	w.closeList()
}

func (w *writer) podSpec(p *Pod) {
	t := p.Template
	if t.Volume != "" {
		w.list("volumes")
		for own := range rawjson.Elements(rawjson.Get(t.Document, "spec", "volumes")) {
			w.item()
			w.b = append(w.b, own...)
		}
		w.item()
		w.brace()
		w.str("name", t.Volume)
		w.raw("persistentVolumeClaim", "")
		w.brace()
		w.str("claimName", p.Claim)
		w.close()
		w.close()
		w.closeList()
	}
	if !w.over {
		w.containerSpecs(t)
	}
	w.text("restartPolicy", "", t.RestartPolicy)
	w.always("terminationGracePeriodSeconds", true, 0, t.GraceSeconds)
	w.object("nodeSelector", nil, t.NodeSelector)
}

// podOver is pod for a whole one that is put over its Template's Document, which
// has the lists that a Template knows a part of.
func (w *writer) podOver(old, p *Pod) {
	w.over = true
	w.pod(old, p)
	w.over = false
}

func (w *writer) containerSpecs(t *Template) {
	w.list("containers")
	for i := range t.Containers {
		c := &t.Containers[i]
		w.item()
		if own := t.written(c.Name); own != nil {
			w.b = append(w.b, rawjson.Apply(nil, own, c.patch())...)
			continue
		}
		w.brace()
		w.str("name", c.Name)
		w.str("image", c.Image)
		r := c.Resources()
		w.resources("resources", &r)
		if c.CPUPolicy != "" || c.MemoryPolicy != "" {
			w.member("resizePolicy")
			w.b = append(w.b, '[')
			w.resizePolicy("cpu", c.CPUPolicy)
			w.resizePolicy("memory", c.MemoryPolicy)
			w.closeList()
		}
		w.close()
	}
	w.closeList()
}

// written returns a container as a client has written it, nil where none has.
func (t *Template) written(name string) []byte {
	for c := range rawjson.Elements(rawjson.Get(t.Document, "spec", "containers")) {
		if rawjson.Text(c, "name") == name {
			return c
		}
	}
	return nil
}

// patch is what may change in a container.
func (c *ContainerSpec) patch() []byte {
	var w writer
	w.reset()
	w.name("image")
	w.b = rawjson.AppendString(w.b, c.Image)
	r := c.Resources()
	w.resources("resources", &r)
	return w.done()
}

func (w *writer) resources(plain string, r *Resources) {
	w.member(plain)
	w.brace()
	w.quantities("limits", r.CPULimit, r.MemoryLimit)
	w.quantities("requests", r.CPU, r.Memory)
	w.close()
}

func (w *writer) resizePolicy(resource, policy string) {
	if policy == "" {
		return
	}
	w.item()
	w.brace()
	w.str("resourceName", resource)
	w.str("restartPolicy", policy)
	w.close()
}

// podSpecEnd writes the members after nodeName.
func (w *writer) podSpecEnd(p *Pod) {
	t := p.Template
	w.flag("hostNetwork", false, t.HostNetwork)
	if p.Pinned != "" {
		// As util.ReplaceDaemonSetPodNodeNameNodeAffinity of
		// pkg/controller/daemon/util writes it.
		w.name("affinity")
		w.b = append(w.b, `{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":[`...)
		w.b = rawjson.AppendString(w.b, p.Pinned)
		w.b = append(w.b, `]}]}]}}}`...)
	}
	w.text("schedulerName", "", t.SchedulerName)
	if len(t.Tolerations) > 0 {
		w.list("tolerations")
		for _, t := range t.Tolerations {
			w.item()
			w.brace()
			w.str("key", t.Key)
			w.str("operator", t.Operator)
			w.str("value", t.Value)
			w.str("effect", t.Effect)
			if t.Seconds >= 0 {
				w.int("tolerationSeconds", t.Seconds)
			}
			w.close()
		}
		w.closeList()
	}
	w.text("priorityClassName", "", t.PriorityClass)
	w.always("priority", true, 0, int64(t.Priority))
	policy := "PreemptLowerPriority"
	if t.Demands != nil && t.Demands.NeverPreempts {
		policy = "Never"
	}
	w.text("preemptionPolicy", "", policy)
	if len(t.Spread) > 0 && !w.over {
		w.list("topologySpreadConstraints")
		for _, s := range t.Spread {
			w.item()
			w.brace()
			w.int("maxSkew", int64(s.MaxSkew))
			w.str("topologyKey", s.TopologyKey)
			w.str("whenUnsatisfiable", s.WhenUnsatisfiable)
			w.member("labelSelector")
			w.selector(s.Selector)
			w.close()
		}
		w.closeList()
	}
}

func (w *writer) selector(labels Pairs) {
	w.brace()
	w.matchLabels(labels)
	w.close()
}

func (w *writer) matchLabels(labels Pairs) {
	w.member("matchLabels")
	w.brace()
	for _, l := range labels {
		w.sep()
		w.b = append(rawjson.AppendString(w.b, l.Key), ':')
		w.b = rawjson.AppendString(w.b, l.Value)
	}
	w.close()
}

// requirements writes those of a selector, as a list.
func (w *writer) requirements(all []Requirement) {
	w.b = append(w.b, '[')
	for i := range all {
		w.item()
		w.brace()
		w.str("key", all[i].Key)
		w.str("operator", all[i].Operator)
		if len(all[i].Values) > 0 {
			w.member("values")
			w.b = append(w.b, '[')
			for j, v := range all[i].Values {
				if j > 0 {
					w.b = append(w.b, ',')
				}
				w.b = rawjson.AppendString(w.b, v)
			}
			w.b = append(w.b, ']')
		}
		w.close()
	}
	w.closeList()
}

func (w *writer) quantities(plain string, cpu, memory int64) {
	if cpu == 0 && memory == 0 {
		return
	}
	w.member(plain)
	w.brace()
	if cpu != 0 {
		w.str("cpu", MilliCPU(cpu))
	}
	if memory != 0 {
		w.str("memory", Bytes(memory))
	}
	w.close()
}

func (w *writer) containers(name string, old, now []Container) {
	if alike(old, now) {
		return
	}
	w.list(name)
	for i := range now {
		w.item()
		w.container(&now[i])
	}
	w.closeList()
}

func (w *writer) container(c *Container) {
	w.brace()
	w.str("name", c.Name)
	w.member("state")
	w.containerState(&c.State)
	w.member("lastState")
	w.containerState(&c.Last)
	w.bool("ready", c.Ready)
	w.int("restartCount", int64(c.Restarts))
	w.str("image", c.Image)
	w.strAlways("imageID", c.ImageID)
	w.str("containerID", c.ContainerID)
	if c.ContainerID != "" || c.State.Kind == "waiting" {
		w.bool("started", c.Started)
	}
	if c.Given != nil {
		w.quantities("allocatedResources", c.Given.Allocated.CPU, c.Given.Allocated.Memory)
		w.resources("resources", &c.Given.Actual)
	}
	w.close()
}

func (w *writer) containerState(s *ContainerState) {
	w.brace()
	switch s.Kind {
	case "waiting":
		w.member("waiting")
		w.brace()
		w.str("reason", s.Reason)
		w.str("message", s.Message)
		w.close()
	case "running":
		w.member("running")
		w.brace()
		w.at("startedAt", s.StartedAt)
		w.close()
	case "terminated":
		w.member("terminated")
		w.brace()
		w.int("exitCode", int64(s.ExitCode))
		w.str("reason", s.Reason)
		w.at("startedAt", s.StartedAt)
		w.at("finishedAt", s.Finished)
		w.str("containerID", s.ContainerID)
		w.close()
	}
	w.close()
}

// qos is the quality of service class as the API server computes it.
func (p *Pod) qos() string {
	if d := p.Template.Demands; d != nil && d.QOS != "" {
		return d.QOS
	}
	var q kubedefaults.QOS
	for _, list := range [...][]ContainerSpec{p.Template.Init(), p.Template.Containers} {
		for i := range list {
			q.Add(list[i].CPU, list[i].Memory, list[i].CPULimit, list[i].MemoryLimit)
		}
	}
	return string(q.Class())
}
