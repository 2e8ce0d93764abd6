package tables

import (
	"cmp"
	"strconv"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
)

func endpointSlices() *Printer {
	slice := discoveryv1.EndpointSlice{}
	return typed(endpointSliceCells,
		nameColumn(),
		text("AddressType", doc(slice, "addressType")),
		text("Ports", doc(slice, "ports")),
		text("Endpoints", doc(slice, "endpoints")),
		ageColumn(),
	)
}

// endpointSliceCells shows a port without number as its name, which isn't absent but empty once it is stored.
func endpointSliceCells(slice *discoveryv1.EndpointSlice, now time.Time) []any {
	var ports, addresses []string
	for _, port := range slice.Ports {
		if port.Port != nil {
			ports = append(ports, strconv.Itoa(int(*port.Port)))
		} else {
			ports = append(ports, ptr.Deref(port.Name, ""))
		}
	}
	for _, endpoint := range slice.Endpoints {
		addresses = append(addresses, endpoint.Addresses...)
	}
	return []any{
		slice.Name, string(slice.AddressType), cmp.Or(firstFew(ports, mostEndpoints, ","), unset),
		cmp.Or(firstFew(addresses, mostEndpoints, ","), unset), since(slice.CreationTimestamp, now),
	}
}
