package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"io"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the one of distroless' images: Kubernetes' runAsNonRoot wants a number.
const user = 65532

// A file of the image; a name that ends in a slash is a folder's.
type file struct {
	name string
	mode int64
	text []byte
}

// base is all but the program and its licences. The program needs no writable folder but the one that it is told to write to;
// /tmp is its home, to mount something at.
func base() []file {
	return []file{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates()},
		{"tmp/", 0o1777, nil},
		{"usr/", 0o755, nil},
		{"usr/bin/", 0o755, nil},
		{"usr/share/", 0o755, nil},
		{"usr/share/doc/", 0o755, nil},
		{"usr/share/doc/nodesim/", 0o755, nil},
	}
}

// certificates are Mozilla's roots, for stores of tapes; an API server's are in its kubeconfig. Roots that count with a
// condition only are left out: a file can't say it.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer takes everything
		}
	}
	return b.Bytes()
}

// layer packs files, and returns them with the tar that is in them: an image's config has the hash of the one, its manifest that
// of the other.
func layer(files []file, created time.Time) (packed, plain []byte, err error) {
	var text, small bytes.Buffer
	t := tar.NewWriter(&text)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: created, Typeflag: tar.TypeReg}
		if f.name[len(f.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, nil, err
		}
		if _, err := t.Write(f.text); err != nil {
			return nil, nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, nil, err
	}
	z, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.Copy(z, bytes.NewReader(text.Bytes())); err != nil {
		return nil, nil, err
	}
	if err := z.Close(); err != nil {
		return nil, nil, err
	}
	return small.Bytes(), text.Bytes(), nil
}
