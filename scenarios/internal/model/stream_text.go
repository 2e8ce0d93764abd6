package model

import "strconv"

// What a stream writes: the random parts of names and identities in a cluster. Each has a form that appends, which
// allocates nothing while there is room, and a form that returns a string.

// safe is the alphabet of generated names: no vowels and nothing that looks like one, so that no name says something by
// accident (k8s.io/apimachinery/pkg/util/rand).
const safe = "bcdfghjklmnpqrstvwxz2456789"

const hexDigits = "0123456789abcdef"

// AppendUUID appends a version 4 UUID, in lower case as the API server writes it.
func (s *Stream) AppendUUID(dst []byte) []byte {
	hi := s.Uint64()&^0xf000 | 0x4000
	lo := s.Uint64()&^(0xc<<60) | 0x8<<60
	for i := range 32 {
		switch i {
		case 8, 12, 16, 20:
			dst = append(dst, '-')
		}
		if i < 16 {
			dst = append(dst, hexDigits[hi>>(60-4*i)&15])
		} else {
			dst = append(dst, hexDigits[lo>>(124-4*i)&15])
		}
	}
	return dst
}

// UUID returns a version 4 UUID: the uid of an object, the boot id of a machine.
func (s *Stream) UUID() string {
	return string(s.AppendUUID(make([]byte, 0, 36)))
}

// AppendHex appends n lower-case hexadecimal digits: 17 for the id of an EC2 instance, 64 for a container's.
func (s *Stream) AppendHex(dst []byte, n int) []byte {
	for n > 0 {
		word := s.Uint64()
		for range min(n, 16) {
			dst = append(dst, hexDigits[word>>60])
			word <<= 4
		}
		n -= 16
	}
	return dst
}

// Hex returns n lower-case hexadecimal digits.
func (s *Stream) Hex(n int) string {
	return string(s.AppendHex(make([]byte, 0, max(n, 0)), n))
}

// AppendSuffix appends n letters of the alphabet of generated names.
func (s *Stream) AppendSuffix(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, safe[s.N(uint64(len(safe)))])
	}
	return dst
}

// Suffix returns the five letters that the API server appends to a generateName (k8s.io/apiserver/pkg/storage/names):
// those of a pod, "x7k2p".
func (s *Stream) Suffix() string {
	return string(s.AppendSuffix(make([]byte, 0, 5), 5))
}

// AppendTemplateHash appends the hash of a pod template as controllers write it: the decimal digits of 32 bits, each
// moved into the alphabet of generated names (SafeEncodeString of k8s.io/apimachinery/pkg/util/rand, called by
// ComputeHash of k8s.io/kubernetes/pkg/controller). It has eight to ten letters as a rule, and only those of 456789bcdf.
func (s *Stream) AppendTemplateHash(dst []byte) []byte {
	start := len(dst)
	dst = strconv.AppendUint(dst, s.Uint64()>>32, 10)
	for i := start; i < len(dst); i++ {
		dst[i] = safe[int(dst[i])%len(safe)]
	}
	return dst
}

// TemplateHash returns the hash of a pod template: the label pod-template-hash of a ReplicaSet and of its pods.
func (s *Stream) TemplateHash() string {
	return string(s.AppendTemplateHash(make([]byte, 0, 10)))
}

// AppendBase36 appends n digits of 0-9 and a-z, as Compute Engine ends the names of a group's machines.
func (s *Stream) AppendBase36(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, "0123456789abcdefghijklmnopqrstuvwxyz"[s.N(36)])
	}
	return dst
}
