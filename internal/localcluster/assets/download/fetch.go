package download

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// A File is what is to be downloaded.
type File struct {
	URL   string
	Sum   Sum
	Limit int64 // bytes; a longer file is refused, and nothing after the limit is written
}

// A Client downloads. The zero value is a good one; a Client may be used for several files, one after another.
type Client struct {
	// Transport takes the requests; nil is one with bounded waits, and with the proxies of the environment.
	Transport http.RoundTripper

	// Stalled is how long a server may send nothing before the attempt is given up; 0 is 30 s.
	Stalled time.Duration

	// Wait lets the pause before another attempt pass; nil waits.
	Wait func(context.Context, time.Duration) error

	// Progress is told how many bytes are there, and of how many, which is -1 where the server doesn't say; nil is
	// nobody. It is called often.
	Progress func(done, total int64)
}

// ErrUnreachable is in the error of a download whose server gave no connection: others from there will fail, too.
var ErrUnreachable = errors.New("no connection")

// Fetch downloads a file to a path. The folder of the path must be there.
func (c *Client) Fetch(ctx context.Context, f File, path string) error {
	if err := c.fetch(ctx, f, path); err != nil {
		return fmt.Errorf("download %s: %w", Shown(f.URL), err)
	}
	return nil
}

// hidden is shown in place of a user, a password, and the values of a query.
const hidden = "xxxxx"

// Shown returns an address for logs and errors: without the user and the password, and without the values of the query, one of
// which may be a token. Of an address that has no host, or can't be parsed, such as ci:s3cret@mirror, it shows nothing before the
// last @; where a ? is before that, nothing at all, since it may be part of a password, and the @ of a value.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err == nil && u.Host != "" {
		if u.User != nil {
			u.User = url.User(hidden)
			address = u.String()
		}
		return withoutValues(address)
	}
	if at := strings.LastIndex(address, "@"); at >= 0 {
		if strings.Contains(address[:at], "?") {
			return hidden
		}
		address = hidden + address[at:]
	}
	return withoutValues(address)
}

// withoutValues hides what each name in the query of an address is set to, and what has no name.
func withoutValues(address string) string {
	before, query, _ := strings.Cut(address, "?")
	if query == "" {
		return address
	}
	all := strings.Split(query, "&")
	for i, one := range all {
		all[i] = hidden
		if name, _, named := strings.Cut(one, "="); named {
			all[i] = name + "=" + hidden
		}
	}
	return before + "?" + strings.Join(all, "&")
}

func (c *Client) fetch(ctx context.Context, f File, path string) error {
	if err := f.Sum.Check(); err != nil {
		return err
	}
	part := path + ".part"
	// An earlier process may have ended between the last byte and the check.
	kept, err := f.Sum.of(part)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	resumed := err == nil
	if kept == f.Sum {
		return settle(part, path)
	}
	for {
		if err := c.complete(ctx, f, part); err != nil {
			if size(part) == 0 {
				err = errors.Join(err, remove(part)) // nothing to go on with
			}
			return err
		}
		found, err := f.Sum.of(part)
		if err != nil {
			return err
		}
		if found == f.Sum {
			return settle(part, path)
		}
		if err := os.Remove(part); err != nil {
			return err
		}
		if !resumed {
			return fmt.Errorf("found the checksum %s, want %s: the file is damaged or was replaced, and isn't kept", found, f.Sum)
		}
		resumed = false // what an earlier download had left was of another file, or damaged: once more from the start
	}
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// settle gives a verified file its name, when it is on the disk.
func settle(part, path string) error {
	file, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(part, path)
}
