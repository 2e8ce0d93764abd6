package tables

import (
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// mostEndpoints is the number of addresses, ports or hosts a cell names before it counts.
const mostEndpoints = 3

// Endpoints are deprecated since Kubernetes 1.33, and still served.
type (
	endpointList   = corev1.Endpoints      //nolint:staticcheck // see above
	endpointSubset = corev1.EndpointSubset //nolint:staticcheck // see above
)

func endpoints() *Printer {
	return typed(func(e *endpointList, now time.Time) []any {
		return []any{e.Name, endpointAddresses(e.Subsets), since(e.CreationTimestamp, now)}
	}, nameColumn(), text("Endpoints", doc(endpointList{}, "subsets")), ageColumn())
}

// endpointAddresses lists every address with every port. Endpoints without subsets are <none>; with subsets of which
// no address is ready, they are empty.
func endpointAddresses(subsets []endpointSubset) string {
	if len(subsets) == 0 {
		return none
	}
	var all []string
	for _, subset := range subsets {
		for _, address := range subset.Addresses {
			if len(subset.Ports) == 0 { // of a headless service
				all = append(all, address.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, address := range subset.Addresses {
				all = append(all, net.JoinHostPort(address.IP, strconv.Itoa(int(port.Port))))
			}
		}
	}
	return firstFew(all, mostEndpoints, ",")
}
