package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	maxRequest = 64 << 10 // bytes of a request's head
	maxBody    = 1 << 20  // bytes of its body that are read
)

// Forward is an api.PortForwardHandlerFunc: HTTP/1.1 on every port, which tells whose pod it is, and an echo for what
// doesn't begin as HTTP does.
func (s *Scripted) Forward(ctx context.Context, namespace, name string, port int32, stream io.ReadWriteCloser) error {
	pod, err := s.pod(ctx, namespace, name)
	if err != nil {
		return err
	}
	ctx, stop := s.while(ctx, pod, "")
	defer stop()
	unhook := context.AfterFunc(ctx, func() { _ = stream.Close() }) // for a pod that ends
	defer unhook()
	limited := &io.LimitedReader{R: stream, N: maxRequest}
	in := bufio.NewReader(limited)
	if !isHTTP(in) {
		limited.N = 1 << 62
		_, err := io.Copy(stream, in)
		return err
	}
	for ctx.Err() == nil {
		limited.N = maxRequest
		request, err := http.ReadRequest(in)
		if err != nil {
			if limited.N <= 0 {
				_, err = io.WriteString(stream, "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
				return err
			}
			return nil // its client is done, or no HTTP client
		}
		limited.N = maxBody
		_, err = io.Copy(io.Discard, request.Body)
		last := request.Close || err != nil || limited.N <= 0
		if err := answer(stream, request, last, pod, port); err != nil || last {
			return err
		}
	}
	return ctx.Err()
}

// methods are the words that a request of HTTP begins with.
var methods = []string{"GET ", "HEAD ", "POST ", "PUT ", "PATCH ", "DELETE ", "OPTIONS ", "TRACE ", "CONNECT "}

// isHTTP waits for as many bytes as it takes to tell HTTP from everything else, and takes none.
func isHTTP(in *bufio.Reader) bool {
	for n := 1; ; n++ {
		head, err := in.Peek(n)
		if slices.Contains(methods, string(head)) {
			return true
		}
		possible := slices.ContainsFunc(methods, func(m string) bool { return strings.HasPrefix(m, string(head)) })
		if err != nil || !possible {
			return false
		}
	}
}

// answer says whose pod it is; last closes the connection.
func answer(out io.Writer, request *http.Request, last bool, pod *corev1.Pod, port int32) error {
	text := fmt.Sprintf("pod %s/%s (%s) on node %s, port %d: %s %s\n", pod.Namespace, pod.Name, pod.UID, pod.Spec.NodeName,
		port, request.Method, request.URL.Path)
	response := &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: request, Close: last,
		Header:        http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)),
	}
	return response.Write(out)
}
