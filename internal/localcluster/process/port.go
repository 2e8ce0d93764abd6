package process

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports that FreePort chooses from. The kernel gives none of them to connections and to listeners on port 0: Linux
// gives those from 32768 on, other systems those from 49152 on (ip_local_port_range in
// https://docs.kernel.org/networking/ip-sysctl.html). NodePorts begin at 30000.
const (
	firstPort = 16384
	lastPort  = 29999
)

// FreePort returns a port on which nobody listens. A program that gives it up for a moment, as an API server does that
// starts again, finds it free: no connection gets it meanwhile.
func FreePort() (port int, err error) {
	for range 100 { // one may be taken; a hundred aren't
		port = firstPort + rand.IntN(lastPort-firstPort+1)
		if err = CheckPort(port); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// CheckPort returns an error unless a port can be listened on.
func CheckPort(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("port %d of 127.0.0.1: %w: want a free one, or 0 to have one found", port, err)
	}
	return l.Close()
}
