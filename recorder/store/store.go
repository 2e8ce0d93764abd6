package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
)

// Store keeps tapes in a bucket. Its methods may be called from several goroutines.
type Store struct {
	Bucket Bucket
	// Address is how the store is called, without credentials.
	Address string
}

// mostDescription bounds what is read of a description, in bytes.
const mostDescription = 64 << 10

// Close closes the bucket.
func (s *Store) Close() error { return s.Bucket.Close() }

// Put keeps a tape. One that is there already with the same content is not sent again. What is there under the name with another
// description is somebody else's: it stays, and Put says so.
func (s *Store) Put(ctx context.Context, t Tape, open func() (io.ReadCloser, error)) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("tape: %w", err)
	}
	switch has, err := s.describe(ctx, t.folder()+t.Description()); {
	case err == nil && has.SHA256 == t.SHA256:
		return nil
	case err == nil:
		return &TakenError{Store: s.Address, Name: t.Name}
	case !missing(err):
		return s.about(t.Name, err)
	}
	from, err := open()
	if err != nil {
		return err
	}
	hash := sha256.New()
	err = s.Bucket.Write(ctx, t.Object(), io.TeeReader(from, hash))
	if err = errors.Join(err, from.Close()); err != nil {
		return s.about(t.Name, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != t.SHA256 {
		return s.about(t.Name, fmt.Errorf("found a file with the checksum %s, want %s: it was changed after it was written", got, t.SHA256))
	}
	if err := s.Bucket.Write(ctx, t.folder()+t.Description(), strings.NewReader(string(t.Text()))); err != nil {
		return s.about(t.Name, err)
	}
	return nil
}

// TakenError says that a store has another tape of that name.
type TakenError struct{ Store, Name string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("store %s: tape %s: another recorder has written a tape of that roll: nothing to do, or remove one of both", e.Store, e.Name)
}

// about says in one line what an error is about. What is wanted the bucket has said.
func (s *Store) about(name string, err error) error {
	return fmt.Errorf("store %s: tape %s: %w", s.Address, name, lineError{err})
}

// Query says which tapes are wanted. Zero values ask for nothing in particular.
type Query struct {
	// Since and Until bound when the roll began.
	Since, Until time.Time
	// Cluster is the UID or the name of a cluster.
	Cluster, Group string
	Outcome        trigger.Outcome
	// Choose, where it isn't nil, says by a tape's key alone whether it is wanted, before its description is read: see [Tape.Key].
	Choose func(key string) bool
}

func (q *Query) wants(t *Tape) bool {
	return (q.Since.IsZero() || !t.Began.Before(q.Since)) && (q.Until.IsZero() || t.Began.Before(q.Until)) &&
		(q.Cluster == "" || q.Cluster == t.Cluster || q.Cluster == t.ClusterName) &&
		(q.Group == "" || q.Group == t.Group) && (q.Outcome == "" || q.Outcome == t.Outcome)
}

// skips reports whether the key of a description, or the day in it, is none that is asked for, so that it needn't be read.
func (q *Query) skips(key string) bool {
	if q.Choose != nil && !q.Choose(strings.TrimSuffix(key, descriptionEnding)) {
		return true
	}
	parts := strings.Split(key, "/")
	if len(parts) != 5 {
		return true // nothing of ours
	}
	day, err := time.Parse("2006/01/02", strings.Join(parts[1:4], "/"))
	return err != nil || !q.Since.IsZero() && !day.Add(24*time.Hour).After(q.Since) || !q.Until.IsZero() && !day.Before(q.Until)
}

// List returns the tapes that are wanted, oldest roll first. Descriptions that can't be read are left out, and told of in skipped,
// each by a [SkippedError].
func (s *Store) List(ctx context.Context, q Query) (tapes []Tape, skipped []error, err error) {
	var keys []string
	err = s.Bucket.List(ctx, "", func(key string) error {
		if strings.HasSuffix(key, descriptionEnding) && !q.skips(key) {
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("store %s: list: %w", s.Address, lineError{err})
	}
	for _, key := range keys {
		t, err := s.describe(ctx, key)
		switch {
		case ctx.Err() != nil:
			return nil, nil, fmt.Errorf("store %s: list: %w", s.Address, context.Cause(ctx))
		case missing(err): // removed meanwhile
		case err != nil:
			skipped = append(skipped, &SkippedError{Store: s.Address, Key: strings.TrimSuffix(key, descriptionEnding), Err: err})
		case q.wants(&t):
			tapes = append(tapes, t)
		}
	}
	slices.SortFunc(tapes, Compare)
	return tapes, skipped, nil
}

func (s *Store) describe(ctx context.Context, key string) (Tape, error) {
	if name := strings.TrimSuffix(path.Base(key), descriptionEnding); !isName(name) {
		return Tape{}, &DamagedError{fmt.Errorf("description: found the name %.80q, want up to 200 letters, digits, dots, dashes and underscores", name)}
	}
	r, err := s.Bucket.Read(ctx, key)
	if err != nil {
		return Tape{}, err
	}
	text, err := io.ReadAll(io.LimitReader(r, mostDescription+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return Tape{}, err
	}
	if len(text) > mostDescription {
		return Tape{}, &DamagedError{fmt.Errorf("description: found more than %d bytes, want a description", mostDescription)}
	}
	t, err := Parse(text)
	if err == nil && key != t.Key()+descriptionEnding {
		err = fmt.Errorf("description: found one of the tape %s", t.Key())
	}
	if err != nil {
		return Tape{}, &DamagedError{err}
	}
	return t, nil
}

// Get writes a tape to a writer, and fails where it isn't what its description says; what was written then is not the tape.
func (s *Store) Get(ctx context.Context, t Tape, to io.Writer) error {
	r, err := s.Bucket.Read(ctx, t.Object())
	if err != nil {
		return s.about(t.Name, err)
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, hash), io.LimitReader(withContext{ctx, r}, t.Bytes+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return s.about(t.Name, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); n != t.Bytes || got != t.SHA256 {
		return s.about(t.Name, &DamagedError{fmt.Errorf("found %d bytes or more with the checksum %s, want %d with %s: the object is damaged, or somebody has replaced it", n, got, t.Bytes, t.SHA256)})
	}
	return nil
}

// deleteMost bounds a removal that was begun.
const deleteMost = time.Minute

// Delete removes a tape: its description first, so that it is never listed half. Once begun it continues even if the context ends, for a
// minute at most. If the file can't be removed, the description is written again, so that List finds the tape.
func (s *Store) Delete(ctx context.Context, t Tape) error {
	if err := ctx.Err(); err != nil {
		return s.about(t.Name, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteMost)
	defer cancel()
	description := t.folder() + t.Description()
	if err := s.Bucket.Delete(ctx, description); err != nil && !missing(err) {
		return s.about(t.Name, err)
	}
	if err := s.Bucket.Delete(ctx, t.Object()); err != nil && !missing(err) {
		return s.about(t.Name, errors.Join(err, s.Bucket.Write(ctx, description, strings.NewReader(string(t.Text())))))
	}
	return nil
}
