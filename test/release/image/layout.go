package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Media types. Source: opencontainers/image-spec, media-types.md.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// A descriptor points at a blob. Source: opencontainers/image-spec, descriptor.md.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// A layout is the image of a release as it grows. Source: opencontainers/image-spec, image-layout.md.
type layout struct {
	version, commit string
	created         time.Time

	blobs     map[string][]byte
	manifests []descriptor
}

// add makes the image of one architecture.
func (l *layout) add(arch string, program, licenses []byte) error {
	common, commonTar, err := layer(base(), l.created)
	if err != nil {
		return err
	}
	own, ownTar, err := layer([]file{
		{"usr/bin/nodesim", 0o755, program},
		{"usr/share/doc/nodesim/LICENSES.txt", 0o644, licenses},
	}, l.created)
	if err != nil {
		return err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "nodesim",
		"org.opencontainers.image.description": "Record, simulate, replay and pin down the rolls of Kubernetes nodes",
		"org.opencontainers.image.source":      "https://github.com/nodesim/nodesim",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     l.version,
		"org.opencontainers.image.revision":    l.commit,
		"org.opencontainers.image.created":     l.created.Format(time.RFC3339),
	}
	// Source: opencontainers/image-spec, config.md.
	config, err := l.put(configType, map[string]any{
		"created": l.created.Format(time.RFC3339), "architecture": arch, "os": "linux",
		"config": map[string]any{
			"User":       strconv.Itoa(user) + ":" + strconv.Itoa(user),
			"Entrypoint": []string{"/usr/bin/nodesim"},
			"Env":        []string{"PATH=/usr/bin", "HOME=/tmp", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			"WorkingDir": "/tmp",
			"Labels":     labels,
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(commonTar), digest(ownTar)}},
		"history": []map[string]any{
			{"created": l.created.Format(time.RFC3339), "created_by": "certificates and a user"},
			{"created": l.created.Format(time.RFC3339), "created_by": "nodesim " + l.version},
		},
	})
	if err != nil {
		return err
	}
	manifest, err := l.put(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config,
		"layers":      []descriptor{l.keep(layerType, common), l.keep(layerType, own)},
		"annotations": labels,
	})
	if err != nil {
		return err
	}
	manifest.Platform = &platform{arch, "linux"}
	l.manifests = append(l.manifests, manifest)
	return nil
}

// put keeps a value as JSON, whose members are in the order of their names.
func (l *layout) put(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return l.keep(mediaType, text), nil
}

func (l *layout) keep(mediaType string, text []byte) descriptor {
	if l.blobs == nil {
		l.blobs = map[string][]byte{}
	}
	is := digest(text)
	l.blobs[is] = text
	return descriptor{MediaType: mediaType, Digest: is, Size: len(text)}
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// write writes the tar.
func (l *layout) write(w io.Writer) error {
	all, err := l.put(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": l.manifests})
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": l.version,
		"io.containerd.image.name":          "ghcr.io/nodesim/nodesim:" + l.version, // what containerd names it when it is loaded
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{all}})
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	put := func(name string, text []byte) error {
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: l.created, Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err := t.Write(text)
		return err
	}
	if err := put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	if err := put("index.json", index); err != nil {
		return err
	}
	for _, is := range slices.Sorted(maps.Keys(l.blobs)) {
		if err := put("blobs/sha256/"+is[len("sha256:"):], l.blobs[is]); err != nil {
			return err
		}
	}
	return t.Close()
}
