package api

import (
	"context"
	"encoding/pem"
	"errors"
	"testing"

	"k8s.io/client-go/rest"
)

// serve starts a server of the test's own, and a configuration for its clients.
func serve(t *testing.T, p PodHandlerConfig, o ServeOptions) (*Server, *rest.Config) {
	t.Helper()
	s, err := Serve(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s, &rest.Config{Host: "https://" + s.Address(), TLSClientConfig: rest.TLSClientConfig{CAData: certificate}}
}
