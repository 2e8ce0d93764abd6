// Package port finds ports of 127.0.0.1 for servers that may stop and start again.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports that Free chooses from. The kernel gives none of them to connections and to listeners on port 0: Linux
// gives those from 32768 on, other systems those from 49152 on (ip_local_port_range in
// https://docs.kernel.org/networking/ip-sysctl.html). NodePorts begin at 30000.
const (
	first = 16384
	last  = 29999
)

// Free returns a port on which nobody listens. A program that gives it up for a moment, as an API server does that
// starts again, finds it free: no connection gets it meanwhile.
func Free() (port int, err error) {
	for range 100 { // one may be taken; a hundred aren't
		port = first + rand.IntN(last-first+1)
		if err = Check(port); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// Check returns an error unless a port can be listened on.
func Check(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("port %d of 127.0.0.1: %w: want a free one, or 0 to have one found", port, err)
	}
	return l.Close()
}
