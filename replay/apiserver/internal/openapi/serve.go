package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"github.com/munnerz/goautoneg"
	"google.golang.org/protobuf/proto"
)

// The media types of documents. Clients ask for protobuf by one of two names, and get the newer one.
const (
	protobuf2 = "com.github.proto-openapi.spec.v2.v1.0+protobuf"
	protobuf3 = "com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// A document is one of OpenAPI, in each of its encodings. It is served as k8s.io/kube-openapi's handlers do
// (pkg/handler and pkg/handler3), which link nine packages for building documents from routes.
type document struct {
	protobuf string // its media type
	encoded  func() (*encoded, error)
	// The encodings: as JSON and as protobuf, and each of these as gzip.
	text, binary, zippedText, zippedBinary func() ([]byte, error)
}

// encoded is a document as JSON, with its tag.
type encoded struct {
	text []byte
	tag  string
	made time.Time
}

// newDocument returns a document that is made when it is first asked for. Parse reads the JSON, for protobuf.
func newDocument(protobuf string, content func() ([]byte, error), parse func([]byte) (proto.Message, error)) *document {
	d := &document{protobuf: protobuf}
	d.encoded = sync.OnceValues(func() (*encoded, error) {
		text, err := content()
		return &encoded{text, tagOf(text), time.Now()}, err
	})
	d.binary = sync.OnceValues(func() ([]byte, error) {
		e, err := d.encoded()
		if err != nil {
			return nil, err
		}
		m, err := parse(e.text)
		if err != nil {
			return nil, err
		}
		return proto.Marshal(m)
	})
	d.text = func() ([]byte, error) {
		e, err := d.encoded()
		return e.text, err
	}
	d.zippedText, d.zippedBinary = zipped(d.text), zipped(d.binary)
	return d
}

// zipped compresses what is made, once.
func zipped(of func() ([]byte, error)) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		content, err := of()
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err = w.Write(content)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	})
}

func tagOf(text []byte) string { return fmt.Sprintf("%X", sha512.Sum512(text)) }

// negotiate finds the first encoding that a client accepts: JSON, or protobuf. It reports false where it accepts none.
func (d *document) negotiate(accept string) (binary, ok bool) {
	if accept == "" {
		accept = "*/*"
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if clause.Type != "application" && clause.Type != "*" {
			continue
		}
		switch clause.SubType {
		case "*", "json":
			return false, true
		case d.protobuf, strings.Replace(d.protobuf, ".v1.0", "@v1.0", 1):
			return true, true
		}
	}
	return false, false
}

// serve answers with the document. Where the request names a hash, the answer is that version for ever, or the way to the
// one that there is at this path.
func (d *document) serve(w http.ResponseWriter, r *http.Request, at string) {
	if d.protobuf == protobuf2 { // kube-apiserver's order: the compressing handler is the outer one
		w.Header().Add("Vary", "Accept-Encoding")
	}
	w.Header().Add("Vary", "Accept")
	binary, ok := d.negotiate(r.Header.Get("Accept"))
	if !ok {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	e, err := d.encoded()
	if err == nil {
		err = d.write(w, r, e, at, binary)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (d *document) write(w http.ResponseWriter, r *http.Request, e *encoded, at string, binary bool) error {
	content, h := d.text, w.Header()
	switch zips := d.zips(r); {
	case binary && zips:
		content = d.zippedBinary
	case binary:
		content = d.binary
	case zips:
		content = d.zippedText
	}
	body, err := content()
	if err != nil {
		return err
	}
	h.Set("Content-Type", "application/json")
	if binary {
		h.Set("Content-Type", "application/"+d.protobuf)
	}
	if d.zips(r) {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", strconv.Quote(e.tag))
	if hash := r.URL.Query().Get("hash"); hash != "" && at != "" {
		if hash != e.tag {
			http.Redirect(w, r, hashed(at, e.tag), http.StatusMovedPermanently)
			return nil
		}
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", time.Now().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	http.ServeContent(w, r, "", e.made, bytes.NewReader(body))
	return nil
}

// zips reports whether the answer is compressed: the one document of v2 is, which is long.
func (d *document) zips(r *http.Request) bool {
	return d.protobuf == protobuf2 && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// hashed is the address of one version of a document of v3.
func hashed(path, tag string) string {
	return (&url.URL{Path: path, RawQuery: url.Values{"hash": {tag}}.Encode()}).String()
}

// parse2 and parse3 read a document for protobuf.
func parse2(text []byte) (proto.Message, error) { return openapiv2.ParseDocument(text) }
func parse3(text []byte) (proto.Message, error) { return openapiv3.ParseDocument(text) }

// services are all documents of a tape.
type services struct {
	v2    *document
	v3    map[string]*document // by path: "/openapi/v3/api/v1"
	index func() (*encoded, error)
}

func (o Options) services() *services {
	s := &services{v2: newDocument(protobuf2, func() ([]byte, error) { return o.v2().MarshalJSON() }, parse2), v3: map[string]*document{}}
	for _, gv := range groupVersions(o.Resources) {
		s.v3["/openapi/v3/"+gv.path()] = newDocument(protobuf3, func() ([]byte, error) { return json.Marshal(o.v3(gv)) }, parse3)
	}
	s.index = sync.OnceValues(func() (*encoded, error) {
		type entry struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		}
		paths := map[string]entry{}
		for path, d := range s.v3 {
			e, err := d.encoded()
			if err != nil {
				return nil, err
			}
			paths[strings.TrimPrefix(path, "/openapi/v3/")] = entry{hashed(path, e.tag)}
		}
		text, err := json.Marshal(map[string]any{"paths": paths})
		return &encoded{text, tagOf(text), time.Now()}, err
	})
	return s
}

// ServeHTTP implements http.Handler.
func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch d := s.v3[r.URL.Path]; {
	case r.URL.Path == "/openapi/v2":
		s.v2.serve(w, r, "")
	case r.URL.Path == "/openapi/v3":
		e, err := s.index()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("ETag", strconv.Quote(e.tag))
		w.Header().Set("Content-Type", "application/json")
		http.ServeContent(w, r, "", e.made, bytes.NewReader(e.text))
	case d != nil:
		d.serve(w, r, r.URL.Path)
	default:
		w.WriteHeader(http.StatusNotFound) // with nothing in it, as the real one
	}
}
