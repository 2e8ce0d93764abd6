package workloads

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/dump"
)

// templateHash tells templates apart: ComputeHash of pkg/controller/controller_utils.go, so that ReplicaSets have the
// names that a real cluster gives them.
func templateHash(t *corev1.PodTemplateSpec, collisions *int32) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%v", dump.ForHash(*t))
	if collisions != nil {
		var b [8]byte
		binary.LittleEndian.PutUint32(b[:], uint32(*collisions))
		h.Write(b[:])
	}
	return safe(fmt.Sprint(h.Sum32()))
}

// safe writes a text with letters and digits that make no words (SafeEncodeString of apimachinery/pkg/util/rand).
func safe(s string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	b := []byte(s)
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}
