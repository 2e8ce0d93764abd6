package apiserver_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// The test program is also the many clients of a benchmark: what they cost is
// then counted apart from what the server costs.
const readersRole = "NODESIM_TEST_READERS"

func playRole() {
	role := os.Getenv(readersRole)
	if role == "" {
		return
	}
	if err := readers(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// readers opens the watch "count events url" count times, says so on standard
// output, and reads until each has seen so many events.
func readers(role string) error {
	var count, events int
	var url string
	if _, err := fmt.Sscan(role, &count, &events, &url); err != nil {
		return err
	}
	config := insecure()
	if pair := os.Getenv(readersRole + "_PAIR"); pair != "" {
		own, err := tls.LoadX509KeyPair(pair, pair)
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{own}
	}
	bodies := make([]io.ReadCloser, count)
	for i := range bodies {
		body, err := openWatch(url, os.Getenv(readersRole+"_TOKEN"), config)
		if err != nil {
			return fmt.Errorf("watch %d: %w", i, err)
		}
		bodies[i] = body
	}
	fmt.Println("open")
	var reading sync.WaitGroup
	failed := make(chan error, count)
	for i, body := range bodies {
		reading.Go(func() {
			n, err := readEvents(body, events)
			if n != events {
				failed <- fmt.Errorf("watch %d: %d events and %w, want %d", i, n, err, events)
			}
		})
	}
	reading.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	fmt.Println("done")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the server has been looked at
	return nil
}

// insecure trusts any server: a server of this test, on loopback.
func insecure() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// openWatch opens a watch on a connection of its own.
func openWatch(url, token string, config *tls.Config) (io.ReadCloser, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, ReadBufferSize: 4 << 10, TLSClientConfig: config}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", url, res.Status)
	}
	return res.Body, nil
}

// readEvents counts the frames of a watch, up to most of them.
func readEvents(body io.Reader, most int) (n int, err error) {
	buffer := make([]byte, 16<<10)
	for n < most {
		var k int
		k, err = body.Read(buffer)
		n += bytes.Count(buffer[:k], []byte{10})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// many are clients in a process of their own, each with a connection of its own.
type many struct {
	cmd   *exec.Cmd
	in    io.Closer
	lines *bufio.Scanner
}

// credentials describe how the clients say who they are: a token, or the file of a
// certificate and its key, or neither.
type credentials struct{ token, pair string }

// startMany opens so many watches of a URL.
func startMany(tb testing.TB, count, events int, url string, who credentials) *many {
	tb.Helper()
	m := &many{cmd: exec.Command(os.Args[0])}
	m.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", readersRole, count, events, url), readersRole+"_PAIR="+who.pair, readersRole+"_TOKEN="+who.token)
	m.cmd.Stderr = os.Stderr
	in, err := m.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	m.in, m.lines = in, bufio.NewScanner(out)
	m.expect(tb, "open")
	return m
}

// done waits until each has read all its events.
func (m *many) done(tb testing.TB) {
	tb.Helper()
	m.expect(tb, "done")
}

// leave ends them.
func (m *many) leave(tb testing.TB) {
	tb.Helper()
	_ = m.in.Close()
	if err := m.cmd.Wait(); err != nil {
		tb.Fatal(err)
	}
}

func (m *many) expect(tb testing.TB, want string) {
	tb.Helper()
	if !m.lines.Scan() || m.lines.Text() != want {
		tb.Fatalf("the clients say %q (%v), want %q", m.lines.Text(), m.lines.Err(), want)
	}
}
