package kubelet

import (
	"math/bits"
	"net/netip"
)

// addresses are the numbers of a machine's pods that have one of their own. Like
// a network plugin's, they are handed out in turn, so that one that was just
// given back rests for a while.
type addresses struct {
	used [4]uint64
	last uint8
}

// take returns a free number from 1 on, or 0 where there is none.
func (a *addresses) take() int {
	for range 255 {
		if a.last++; a.last == 0 {
			a.last = 1
		}
		word, bit := a.last/64, uint64(1)<<(a.last%64)
		if a.used[word]&bit == 0 {
			a.used[word] |= bit
			return int(a.last)
		}
	}
	return 0
}

func (a *addresses) give(number int) bool {
	word, bit := uint8(number)/64, uint64(1)<<(uint8(number)%64)
	was := a.used[word]&bit != 0
	a.used[word] &^= bit
	return was
}

// drain gives all back, and returns how many those were.
func (a *addresses) drain() int {
	n := 0
	for i := range a.used {
		n += bits.OnesCount64(a.used[i])
		a.used[i] = 0
	}
	return n
}

// takeAddress takes an address for a pod, or returns "".
func (m *machine) takeAddress() string {
	number := m.ips.take()
	if number == 0 {
		return ""
	}
	return m.address(number)
}

func (m *machine) address(number int) string {
	if f := m.k.cfg.PodIP; f != nil {
		return f(m.i, number)
	}
	b := m.network()
	b[3] += byte(number)
	return netip.AddrFrom4(b).String()
}

// network returns the prefix of the addresses of the machine's pods.
func (m *machine) network() [4]byte {
	if m.place.PodCIDR.IsValid() && m.place.PodCIDR.Addr().Is4() {
		return m.place.PodCIDR.Masked().Addr().As4()
	}
	// 100.64.0.0/10 has room for 16384 machines, 10.128.0.0/9 for twice as many, and each /8 from 11 on for 65536.
	n := m.i.Number % (49152 + 89<<16)
	switch {
	case n < 16384:
		return [4]byte{100, byte(64 + n>>8), byte(n), 0}
	case n < 49152:
		n -= 16384
		return [4]byte{10, byte(128 + n>>8), byte(n), 0}
	}
	n -= 49152
	return [4]byte{byte(11 + n>>16), byte(n >> 8), byte(n), 0}
}

// giveAddress gives a pod's address back, to the machine and to the subnet.
func (m *machine) giveAddress(ip string) {
	if number := m.numberOf(ip); number > 0 && m.ips.give(number) {
		m.i.Group.FreeIPs++
	}
}

// numberOf is the number of an address, or 0.
func (m *machine) numberOf(ip string) int {
	if ip == "" {
		return 0
	}
	if m.k.cfg.PodIP != nil {
		for number := 1; number < 256; number++ {
			if m.address(number) == ip {
				return number
			}
		}
		return 0
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil || !addr.Is4() {
		return 0
	}
	a, b := addr.As4(), m.network()
	if a[0] != b[0] || a[1] != b[1] || a[2] != b[2] {
		return 0
	}
	return int(a[3] - b[3])
}
