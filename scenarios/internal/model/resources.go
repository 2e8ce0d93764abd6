package model

import (
	"math/bits"
	"strconv"
)

// Resources are those of a node, or the part that pods may request, in the units that the API's texts are made from.
type Resources struct {
	MilliCPU       int64
	MemoryBytes    int64
	EphemeralBytes int64
	Pods           int64
	GPUs           int64
	// More are further resources that devices of a node offer, in the order of their names.
	More []Pair
}

// Pair is a key and its value: a label, an annotation, a resource. Lists of pairs are in the order of their keys, as the
// API writes maps.
type Pair struct {
	Key, Value string
}

// Capacity writes r as status.capacity has it: whole processors, KiB.
func (r Resources) Capacity() []Pair {
	return r.pairs(strconv.FormatInt(r.MilliCPU/1000, 10), strconv.FormatInt(r.EphemeralBytes/1024, 10)+"Ki")
}

// Allocatable writes r as status.allocatable has it: thousandths of a processor unless they are whole ones, ephemeral
// storage in bytes.
func (r Resources) Allocatable() []Pair {
	cpu := strconv.FormatInt(r.MilliCPU, 10) + "m"
	if r.MilliCPU%1000 == 0 {
		cpu = strconv.FormatInt(r.MilliCPU/1000, 10)
	}
	return r.pairs(cpu, strconv.FormatInt(r.EphemeralBytes, 10))
}

func (r Resources) pairs(cpu, ephemeral string) []Pair {
	out := []Pair{
		{"cpu", cpu},
		{"ephemeral-storage", ephemeral},
		{"hugepages-1Gi", "0"},
		{"hugepages-2Mi", "0"},
		{"memory", strconv.FormatInt(r.MemoryBytes/1024, 10) + "Ki"},
	}
	if r.GPUs > 0 {
		out = append(out, Pair{"nvidia.com/gpu", strconv.FormatInt(r.GPUs, 10)})
	}
	out = append(out, Pair{"pods", strconv.FormatInt(r.Pods, 10)})
	if len(r.More) > 0 {
		out = sortedPairs(append(out, r.More...))
	}
	return out
}

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// CapacityOf returns the capacity that the kubelet of such a node reports. diskGi is the size of the disk that has
// the kubelet's files, in GiB.
func CapacityOf(provider Provider, os OS, m Machine, diskGi int64) Resources {
	pods := int64(m.MaxPods())
	if provider != EKS && provider != Karpenter {
		pods = 110
	}
	if m.Pods > 0 {
		pods = int64(m.Pods)
	}
	out := Resources{
		MilliCPU:       int64(m.CPU) * 1000,
		MemoryBytes:    m.ReportedKi * 1024,
		EphemeralBytes: fileSystemKi(provider, os, diskGi) * 1024,
		Pods:           pods,
		GPUs:           int64(m.GPUs),
	}
	if r := m.Reported; r != nil { // a node has at least what pods may have of it
		out.MilliCPU, out.MemoryBytes = max(out.MilliCPU, (r.MilliCPU+999)/1000*1000), max(out.MemoryBytes, r.MemoryBytes)
		out.EphemeralBytes, out.Pods, out.GPUs, out.More = max(out.EphemeralBytes, r.EphemeralBytes), r.Pods, r.GPUs, r.More
	}
	return out
}

// fileSystemKi returns the size of the kubelet's file system on a disk, in KiB: exact for one real node each (20 GiB
// with Amazon Linux 2 and 2023, 100 GiB with Container-Optimized OS, 128 GiB on AKS, 100 GiB with Ubuntu on EC2);
// other sizes follow from XFS's fixed overhead and the 64th that ext4 takes for its inodes.
func fileSystemKi(provider Provider, os OS, diskGi int64) int64 {
	disk := min(max(diskGi, 8), 65536) << 20
	switch {
	case os == AL2:
		return disk - 12308
	case os == AL2023 || os == NVIDIA:
		return disk - 77844
	case provider == GKE:
		return disk - disk/64 - 4350752
	case provider == AKS:
		return disk - disk/64 - 2234448
	}
	return disk - disk/64 - 1788240
}

// AllocatableOf returns what pods may request: capacity less what the provider reserves and less the threshold of
// eviction. The version matters on AKS alone.
//
//   - EKS, Karpenter: nodeadm of awslabs/amazon-eks-ami: 11 MiB a pod and 255 MiB, 1 GiB of disk.
//   - GKE: "Plan GKE Standard node sizes" of Google Cloud's documentation, for the memory that the machine is sold with. A
//     real node had 24 MiB more than the documentation says.
//   - AKS: "Node resource reservations" of Azure's documentation, which changed with 1.29.
//   - Others: the kubelet's thresholds alone (k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1/defaults_linux.go).
func AllocatableOf(provider Provider, v Version, m Machine, diskGi int64, capacity Resources) Resources {
	if m.Reported != nil {
		return *m.Reported
	}
	out := capacity
	out.EphemeralBytes -= tenth(capacity.EphemeralBytes)
	threshold := int64(100 * mebibyte)
	switch provider {
	case EKS, Karpenter:
		out.MilliCPU -= tieredCPU(int64(m.CPU))
		out.MemoryBytes -= (11*capacity.Pods + 255) * mebibyte
		out.EphemeralBytes -= gibibyte
	case GKE:
		out.MilliCPU -= tieredCPU(int64(m.CPU))
		out.MemoryBytes -= tieredMemory(m.MemoryMi) * mebibyte
		disk := diskGi * gibibyte
		out.EphemeralBytes -= min(disk/2, 6*gibibyte+disk*35/100, 100*gibibyte)
	case AKS:
		out.MilliCPU -= aksCPU(int64(m.CPU))
		if v.atLeast(29) {
			out.MemoryBytes -= min(20*capacity.Pods+50, m.MemoryMi/4) * mebibyte
		} else {
			out.MemoryBytes -= tieredMemory(m.MemoryMi) * mebibyte
			threshold = 750 * mebibyte
		}
	}
	out.MemoryBytes -= threshold
	out.MilliCPU, out.MemoryBytes, out.EphemeralBytes = max(out.MilliCPU, 0), max(out.MemoryBytes, 0), max(out.EphemeralBytes, 0)
	return out
}

// tieredCPU returns what EKS and GKE reserve, in thousandths of a processor: 6 % of the first, 1 % of the second, 0.5
// % of the next two, 0.25 % of the rest.
func tieredCPU(cpus int64) int64 {
	tenths := min(cpus, 1)*600 + min(max(cpus-1, 0), 1)*100 + min(max(cpus-2, 0), 2)*50 + max(cpus-4, 0)*25
	return tenths / 10
}

// tieredMemory returns what GKE, and AKS before 1.29, reserve, in MiB: a quarter of the first 4 GiB, a fifth of the
// next 4, a tenth of the next 8, 6 % of the next 112, 2 % of the rest; 255 MiB on machines below 1 GiB.
func tieredMemory(mi int64) int64 {
	if mi < 1024 {
		return 255
	}
	hundredths := int64(0)
	for _, tier := range [...]struct{ width, percent int64 }{{4096, 25}, {4096, 20}, {8192, 10}, {114688, 6}, {1 << 40, 2}} {
		part := min(mi, tier.width)
		hundredths += part * tier.percent
		mi -= part
	}
	return hundredths / 100
}

// aksCPU is the table of Azure's documentation, in thousandths of a processor.
func aksCPU(cpus int64) int64 {
	for _, row := range [...]struct{ upTo, reserved int64 }{{1, 60}, {2, 100}, {4, 140}, {8, 180}, {16, 260}, {32, 420}} {
		if cpus <= row.upTo {
			return row.reserved
		}
	}
	return 740
}

// tenth is the kubelet's threshold nodefs.available<10%, in integers. The kubelet holds the 10 % as a float32, which
// is 13421773 ÷ 2²⁷, multiplies in float64, which rounds to 53 binary digits, and cuts off the fraction
// (GetThresholdQuantity of k8s.io/kubernetes/pkg/kubelet/eviction/api).
func tenth(capacity int64) int64 {
	const float32Tenth, digits = 13421773, 27
	hi, lo := bits.Mul64(uint64(max(capacity, 0)), float32Tenth)
	length := 128 - bits.LeadingZeros64(hi)
	if hi == 0 {
		length = 64 - bits.LeadingZeros64(lo)
	}
	if cut := length - 53; cut > 0 && cut < digits {
		// Round to the nearest, a tie to the even.
		last := lo >> cut & 1
		var carry uint64
		lo, carry = bits.Add64(lo, 1<<(cut-1)-1+last, 0)
		hi += carry
		lo = lo >> cut << cut
	}
	return int64(hi<<(64-digits) | lo>>digits)
}
