package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// An InstanceType is a kind of machine that nodesim doesn't know, or one that differs from what it knows.
type InstanceType struct {
	// Name of the type, as the cloud has it; no two types have the same.
	Name string `yaml:"name" need:"true" form:"instanceType"`
	// CPU counts the virtual processors. Default: those of the type that nodesim knows by that name.
	CPU int `yaml:"cpu" min:"1" max:"1024"`
	// Memory that the cloud sells; the nodes report less. Default: that of the type that nodesim knows by that name.
	Memory resource.Quantity `yaml:"memory" min:"512Mi" max:"64Ti"`
	// Pods that a node takes, the kubelet's maxPods. Default: as many as the provider's nodes of the type have
	// addresses for, 110 where nodesim doesn't know the type.
	Pods int `yaml:"pods" min:"1" max:"10000"`
	// Arch is the processors' architecture. Default: that of the type that nodesim knows by that name, else amd64.
	Arch Arch `yaml:"arch"`
	// GPUs counts the graphics processors. Default: those of the type that nodesim knows by that name, else none.
	GPUs int `yaml:"gpus" max:"64"`
	// Allocatable is what nodes of the type report as such: cpu, memory, pods, nvidia.com/gpu and whatever else pods may request.
	// attachable-volumes-csi-DRIVER is how many volumes a node takes, as its CSINode says. Default: what nodesim's model of the
	// provider leaves of the machine.
	Allocatable Amounts `yaml:"allocatable"`
	// Zones in which the cloud has the type. Default: the cluster's.
	Zones []string `yaml:"zones" form:"place"`
}

// Amounts are quantities of resources by their names.
type Amounts map[string]resource.Quantity

// An Arch is an architecture, as Kubernetes writes it.
type Arch string

// The architectures.
const (
	ArchAMD64 Arch = "amd64"
	ArchARM64 Arch = "arm64"
)

func (Arch) values() []string { return []string{"amd64", "arm64"} }

// instanceType returns what the file says of a type, or nil.
func (f *File) instanceType(name string) *InstanceType {
	for i := range f.Cluster.InstanceTypes {
		if t := &f.Cluster.InstanceTypes[i]; t.Name == name {
			return t
		}
	}
	return nil
}

// Machine returns what an instance type is like: as the file has it, or as nodesim knows it.
func (f *File) Machine(name string) model.Machine {
	known, _ := model.FindMachine(name)
	t := f.instanceType(name)
	if t == nil {
		return known
	}
	m := known
	m.Type, m.Arch, m.CPU, m.Pods, m.GPUs = name, string(t.Arch), t.CPU, t.Pods, t.GPUs
	if mi := t.Memory.Value() >> 20; mi != known.MemoryMi {
		m.MemoryMi = mi
		m = m.Estimate(f.Cluster.Provider)
	}
	m.Reported = t.Allocatable.reported(m)
	return m
}

// reported is what nodes report as allocatable: what is stated, and of what isn't nothing. It is nil where nothing is.
func (a Amounts) reported(m model.Machine) *model.Resources {
	if len(a) == 0 {
		return nil
	}
	r := &model.Resources{Pods: int64(m.Pods)}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		q := a[name]
		switch name {
		case "cpu":
			r.MilliCPU = q.MilliValue()
		case "memory":
			r.MemoryBytes = q.Value()
		case "ephemeral-storage":
			r.EphemeralBytes = q.Value()
		case "pods":
			r.Pods = q.Value()
		case "nvidia.com/gpu":
			r.GPUs = q.Value()
		case "hugepages-1Gi", "hugepages-2Mi":
		default:
			r.More = append(r.More, model.Pair{Key: name, Value: q.String()})
		}
	}
	return r
}

// amounts fills quantities of resources.
func (d *decoder) amounts(n *node, a *Amounts, path string) *Error {
	if n.kind != isMapping {
		return d.at(n, path, n.String(), "a mapping of resources to quantities")
	}
	*a = Amounts{}
	for i, key := range n.keys {
		at := under(path, key)
		if err := d.form(&node{kind: isText, line: n.items[i].line, text: key}, path, "key"); err != nil {
			return err
		}
		q, wanted := parseQuantity(n.items[i], rules{max: "1000T"})
		if wanted != "" {
			return d.at(n.items[i], at, n.items[i].String(), wanted)
		}
		d.lines[at] = n.items[i].line
		(*a)[key] = q
	}
	return nil
}

// fillInstanceType takes what a type doesn't say from the one that nodesim knows.
func (c *checker) fillInstanceType(t *InstanceType, path string) {
	known, there := model.FindMachine(t.Name)
	if !there {
		known = model.Machine{Arch: string(ArchAMD64)}
	}
	if t.CPU == 0 {
		t.CPU = known.CPU
	}
	if t.Memory.IsZero() {
		t.Memory = *resource.NewQuantity(known.MemoryMi<<20, resource.BinarySI)
	}
	if t.Arch == "" {
		t.Arch = Arch(known.Arch)
	}
	if !c.has(path + ".gpus") {
		t.GPUs = known.GPUs
	}
	if t.Pods == 0 {
		t.Pods = int(model.CapacityOf(c.f.Cluster.Provider, "", known, 0).Pods)
	}
	if !c.has(path + ".zones") {
		t.Zones = append(t.Zones, c.f.Cluster.Zones...)
	}
}

// instanceTypes refuses types of which neither the file nor nodesim says enough.
func (c *checker) instanceTypes() *Error {
	for i := range c.f.Cluster.InstanceTypes {
		t, path := &c.f.Cluster.InstanceTypes[i], fmt.Sprintf("cluster.instanceTypes[%d]", i)
		missing := ""
		switch {
		case t.CPU == 0:
			missing = "cpu"
		case t.Memory.IsZero():
			missing = "memory"
		}
		if missing != "" {
			return c.bad(path, fmt.Sprintf("no %s of %q, a type that nodesim doesn't know", missing, t.Name), "cpu and memory, such as cpu: 4, memory: 16Gi")
		}
		for j, z := range t.Zones {
			if err := c.zone(fmt.Sprintf("%s.zones[%d]", path, j), z); err != nil {
				return err
			}
		}
	}
	return nil
}

// machine refuses an instance type that is neither known for the provider's cloud nor described in the file.
func (c *checker) machine(path, name string) *Error {
	if c.f.instanceType(name) != nil {
		return nil
	}
	provider := c.f.Cluster.Provider
	var known []string
	for _, t := range c.f.Cluster.InstanceTypes {
		known = append(known, t.Name)
	}
	for _, m := range model.Machines() {
		// The clouds are told apart by how they name their types.
		azure, google := strings.HasPrefix(m.Type, "Standard_"), strings.Contains(m.Type, "-standard-")
		if azure == (provider == ProviderAKS) && google == (provider == ProviderGKE) {
			known = append(known, m.Type)
		}
	}
	if slices.Contains(known, name) {
		return nil
	}
	err := c.unknown(path, "instance type", name, known)
	describe := fmt.Sprintf("describe it with cluster.instanceTypes: [{name: %s, cpu: 4, memory: 16Gi}]", name)
	if err.Remedy != "" {
		err.Remedy += " Otherwise "
	}
	err.Remedy += describe
	return err
}

// offered refuses a zone in which the cloud doesn't have the instance type.
func (c *checker) offered(path string, zones []string, name string) *Error {
	t := c.f.instanceType(name)
	if t == nil {
		return nil
	}
	for i, z := range zones {
		if !slices.Contains(t.Zones, z) {
			return c.bad(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%q, where there is no %s", z, name), list(t.Zones))
		}
	}
	return nil
}
