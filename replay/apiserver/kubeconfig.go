package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// Kubeconfig is a file that tells clients where a Listener is, and the token.
type Kubeconfig struct {
	// Path is the file's, absolute.
	Path  string
	token string
}

// ours is the name of the extension that marks a kubeconfig as one that we wrote,
// and may write again.
const ours = "nodesim.dev"

// config describes the Listener, with one context, nodesim-TAPE.
func (l *Listener) config() *api.Config {
	name := contextName(l.server.player.Header().Metadata.Name)
	mark, _ := json.Marshal(map[string]string{"replay": l.server.player.Header().Metadata.Name}) // text: it can't fail
	c := api.NewConfig()
	c.Clusters[name] = &api.Cluster{
		Server: l.URL(), CertificateAuthorityData: l.authority,
		Extensions: map[string]runtime.Object{ours: &runtime.Unknown{Raw: mark, ContentType: runtime.ContentTypeJSON}},
	}
	c.AuthInfos[name] = &api.AuthInfo{Token: l.token}
	c.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	return c
}

// contextName is a name that needs no quotes in any shell.
func contextName(tape string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, tape)
	const longest = 63
	clean = strings.Trim(clean[:min(len(clean), longest)], "-._")
	if clean == "" {
		return "nodesim"
	}
	return "nodesim-" + clean
}

// WriteKubeconfig writes a kubeconfig for the Listener, for its owner's eyes only
// and all at once. With path "" it is a new file in the folder for temporary ones.
// A file that is there already is replaced where a Listener wrote it that answers
// no more (it is asked, for a second), and is an error where one still answers, or
// anybody else wrote it.
func (l *Listener) WriteKubeconfig(path string) (*Kubeconfig, error) {
	text, err := clientcmd.Write(*l.config())
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	if path == "" {
		f, err := os.CreateTemp("", contextName(l.server.player.Header().Metadata.Name)+"-*.kubeconfig")
		if err != nil {
			return nil, fmt.Errorf("write a kubeconfig: %w", err)
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("write a kubeconfig: %w", errors.Join(err, os.Remove(f.Name())))
		}
		return &Kubeconfig{Path: f.Name(), token: l.token}, nil
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		if !isOurs(path) {
			return nil, fmt.Errorf("kubeconfig %s: is there already, and not from a replay: want another file", path)
		}
		if url := l.inUse(path); url != "" {
			return nil, fmt.Errorf("kubeconfig %s: leads to another replay, which answers at %s: want another file, or the end of that one", path, url)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return &Kubeconfig{Path: path, token: l.token}, nil
}

// isOurs reports whether all that a kubeconfig leads to are replays.
func isOurs(path string) bool {
	c, err := clientcmd.LoadFromFile(path)
	if err != nil || len(c.Clusters) == 0 {
		return false
	}
	for _, cluster := range c.Clusters {
		if _, marked := cluster.Extensions[ours]; !marked {
			return false
		}
	}
	return true
}

// inUse returns the address in a kubeconfig of ours where another Listener still
// answers, or "".
func (l *Listener) inUse(path string) string {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil || config.BearerToken == l.token {
		return ""
	}
	config.Timeout = time.Second
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return ""
	}
	defer utilnet.CloseIdleConnectionsFor(c.Transport)
	res, err := c.Get(config.Host + "/version")
	if err != nil {
		return ""
	}
	_ = res.Body.Close() // only its status counts
	if res.StatusCode != http.StatusOK {
		return ""
	}
	return config.Host
}

// Remove removes the file, unless it is another's by now.
func (k *Kubeconfig) Remove() error {
	c, err := clientcmd.LoadFromFile(k.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the kubeconfig: %w", err)
	}
	for _, user := range c.AuthInfos {
		if user.Token == k.token {
			return os.Remove(k.Path)
		}
	}
	return nil
}
