package apiserver_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// The test program is also the many clients of a benchmark: what they cost is
// then counted apart from what the server costs.
const readersRole = "NODESIM_TEST_READERS"

func TestMain(m *testing.M) {
	if role := os.Getenv(readersRole); role != "" {
		if err := readers(role, os.Getenv(readersRole+"_TOKEN")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// readers opens the watch "count events url" count times, says so on standard
// output, and reads until each has seen so many events.
func readers(role, token string) error {
	var count, events int
	var url string
	if _, err := fmt.Sscan(role, &count, &events, &url); err != nil {
		return err
	}
	bodies := make([]io.ReadCloser, count)
	for i := range bodies {
		body, err := openWatch(url, token)
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

// openWatch opens a watch on a connection of its own.
func openWatch(url, token string) (io.ReadCloser, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{
		DisableCompression: true, ReadBufferSize: 4 << 10,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a certificate made a moment ago, on loopback
	}}
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

func rolesEnv(count, events int, url, token string) []string {
	return append(os.Environ(), readersRole+"="+strconv.Itoa(count)+" "+strconv.Itoa(events)+" "+url, readersRole+"_TOKEN="+token)
}
