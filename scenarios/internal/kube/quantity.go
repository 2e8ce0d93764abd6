package kube

import "strconv"

// MilliCPU writes millicores as Kubernetes does: "500m", "2".
func MilliCPU(m int64) string {
	if m%1000 == 0 {
		return strconv.FormatInt(m/1000, 10)
	}
	return strconv.FormatInt(m, 10) + "m"
}

// Bytes writes a number of bytes in the largest binary unit that holds it
// exactly: "128Mi", "1959264Ki".
func Bytes(n int64) string {
	for i, unit := range [...]string{"Ti", "Gi", "Mi", "Ki"} {
		size := int64(1) << (40 - 10*i)
		if n != 0 && n%size == 0 {
			return strconv.FormatInt(n/size, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10)
}
