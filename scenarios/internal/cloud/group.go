package cloud

// A Template says what an instance is launched as.
type Template struct {
	Image         string // such as ami-0a1b2c3d4e5f60718
	Version       string // of the kubelet: v1.33.5-eks-ecaa3a6
	Release       string // of the image: 1.33.5-20251112
	OS            string
	InstanceType  string
	LaunchVersion int // of the launch template
}

// A Group is a set of instances that the provider keeps at a size: an Auto
// Scaling group, a managed instance group, a scale set.
type Group struct {
	Name     string
	Zones    []string
	Spot     bool
	Min, Max int
	// Desired is the number of instances that the provider tries to have.
	Desired  int
	Template Template
	// FreeIPs is the number of addresses left for pods in the group's subnets.
	FreeIPs int
	// Detached groups aren't kept at a size: their instances are launched and
	// terminated one by one.
	Detached bool

	instances []*Instance
	refused   int
	pending   int // launches in the loop
	draws     int
}

// Instances returns the group's instances that are not terminated, in the order
// of their launch. The slice must not be changed.
func (g *Group) Instances() []*Instance { return g.instances }
