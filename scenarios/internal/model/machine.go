package model

// Machine is an instance type: what a node that runs on it has to give.
type Machine struct {
	// Type is the cloud's name for it, "m5.large".
	Type string
	// Arch is the architecture as Kubernetes writes it: "amd64" or "arm64".
	Arch string
	// CPU counts virtual processors.
	CPU int
	// MemoryMi is the memory that the cloud sells, in MiB.
	MemoryMi int64
	// ReportedKi is the memory that the kernel leaves and the kubelet reports, in KiB. Where MeasuredMemory is not
	// set, it is an estimate.
	ReportedKi     int64
	MeasuredMemory bool
	// ENIs is the number of network interfaces that an EC2 machine can have, IPs the number of IPv4 addresses of
	// each; 0 elsewhere.
	ENIs, IPs int
	// GPUs counts its graphics processors.
	GPUs int
	// Pods is the number of pods that the kubelet is told to take; 0 is the provider's.
	Pods int
	// Reported is what nodes report as allocatable, where that is known; nil is the model's estimate.
	Reported *Resources
}

// Estimate fills in the memory that a machine of the provider's cloud reports.
func (m Machine) Estimate(p Provider) Machine {
	m.ReportedKi, m.MeasuredMemory = reportedKi(m.MemoryMi, p != GKE && p != AKS), false
	return m
}

// MaxPods returns the number of pods for which the VPC network plugin has addresses: one address of each interface is
// the interface's own, and two pods of the host network need none (eni-max-pods.txt of awslabs/amazon-eks-ami).
// Without interfaces it is the kubelet's own default, 110.
func (m Machine) MaxPods() int {
	if m.ENIs == 0 {
		return 110
	}
	return m.ENIs*(m.IPs-1) + 2
}

// FindMachine returns the machine of that type, and whether there is one.
func FindMachine(instanceType string) (Machine, bool) {
	for _, m := range machines {
		if m.Type == instanceType {
			return m, true
		}
	}
	return Machine{}, false
}

// Machines returns all types, those of each cloud together and each family from small to large.
func Machines() []Machine {
	return append([]Machine(nil), machines...)
}

var machines = listMachines()

// listMachines spells out the families: sizes double from one to the next.
func listMachines() []Machine {
	var out []Machine
	add := func(m Machine) {
		if m.ReportedKi == 0 {
			m.ReportedKi = reportedKi(m.MemoryMi, m.ENIs > 0)
		} else {
			m.MeasuredMemory = true
		}
		out = append(out, m)
	}
	// t3: the two smaller sizes as two nodes on EKS reported them, with Amazon Linux 2023 and 2.
	add(Machine{Type: "t3.small", Arch: "amd64", CPU: 2, MemoryMi: 2048, ReportedKi: 1959264, ENIs: 3, IPs: 4})
	add(Machine{Type: "t3.medium", Arch: "amd64", CPU: 2, MemoryMi: 4096, ReportedKi: 3943312, ENIs: 3, IPs: 6})
	add(Machine{Type: "t3.large", Arch: "amd64", CPU: 2, MemoryMi: 8192, ENIs: 3, IPs: 12})
	add(Machine{Type: "t3.xlarge", Arch: "amd64", CPU: 4, MemoryMi: 16384, ENIs: 4, IPs: 15})
	// The families of which every size has the same interfaces.
	measuredOnEKS := map[string]int64{"m5.large": 7845568, "m6i.large": 7982004}
	for _, f := range []struct {
		name, arch string
		miPerCPU   int64
	}{
		{"m5", "amd64", 4096}, {"m6i", "amd64", 4096}, {"m7g", "arm64", 4096},
		{"c5", "amd64", 2048}, {"c6i", "amd64", 2048}, {"c7g", "arm64", 2048},
		{"r5", "amd64", 8192}, {"r6i", "amd64", 8192},
	} {
		for _, size := range []struct {
			name           string
			cpu, enis, ips int
		}{{"large", 2, 3, 10}, {"xlarge", 4, 4, 15}, {"2xlarge", 8, 4, 15}, {"4xlarge", 16, 8, 30}} {
			m := Machine{Type: f.name + "." + size.name, Arch: f.arch, CPU: size.cpu, MemoryMi: int64(size.cpu) * f.miPerCPU, ENIs: size.enis, IPs: size.ips}
			m.ReportedKi = measuredOnEKS[m.Type]
			add(m)
		}
	}
	add(Machine{Type: "p3.2xlarge", Arch: "amd64", CPU: 8, MemoryMi: 62464, ENIs: 4, IPs: 15, GPUs: 1})
	add(Machine{Type: "g4dn.xlarge", Arch: "amd64", CPU: 4, MemoryMi: 16384, ENIs: 3, IPs: 10, GPUs: 1})
	add(Machine{Type: "g4dn.2xlarge", Arch: "amd64", CPU: 8, MemoryMi: 32768, ENIs: 3, IPs: 10, GPUs: 1})
	add(Machine{Type: "g5.xlarge", Arch: "amd64", CPU: 4, MemoryMi: 16384, ENIs: 4, IPs: 15, GPUs: 1})
	// Google Cloud: e2-standard-2 as a node on GKE reported it.
	for _, family := range []string{"e2", "n2", "n2d"} {
		for _, size := range []struct {
			name string
			cpu  int
		}{{"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}} {
			m := Machine{Type: family + "-standard-" + size.name, Arch: "amd64", CPU: size.cpu, MemoryMi: int64(size.cpu) * 4096}
			if m.Type == "e2-standard-2" {
				m.ReportedKi = 8152028
			}
			add(m)
		}
	}
	// Azure: Standard_D2s_v3 and Standard_D2as_v4 as nodes on AKS reported them.
	for _, f := range []struct {
		before, behind string
		miPerCPU       int64
	}{{"D", "s_v3", 4096}, {"D", "as_v4", 4096}, {"D", "s_v5", 4096}, {"E", "s_v5", 8192}} {
		for _, size := range []struct {
			name string
			cpu  int
		}{{"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}} {
			m := Machine{Type: "Standard_" + f.before + size.name + f.behind, Arch: "amd64", CPU: size.cpu, MemoryMi: int64(size.cpu) * f.miPerCPU}
			switch m.Type {
			case "Standard_D2s_v3":
				m.ReportedKi = 8152800
			case "Standard_D2as_v4":
				m.ReportedKi = 8129936
			}
			add(m)
		}
	}
	return out
}

// reportedKi estimates what the kernel leaves: on EC2 one twentieth less, as measured on small machines, elsewhere a
// thirty-second less; whole pages of 4 KiB.
func reportedKi(mi int64, onEC2 bool) int64 {
	sold := mi * 1024
	if onEC2 {
		return (sold - sold/20) &^ 3
	}
	return sold - sold/32
}
