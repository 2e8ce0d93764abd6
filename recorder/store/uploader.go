package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

// pauses are those after uploads that fail in a row.
var pauses = retry.Doubling{First: time.Second, Most: time.Minute}

// Uploader takes the finished tapes of a folder to a store, oldest first. What a killed one has left half done, the next one does:
// nothing is noted but in the folder and in the store.
type Uploader struct {
	// Folder has NAME.yaml.zst and NAME.json of each finished tape. The description is written last.
	Folder string
	// Store is nil where tapes stay in the folder.
	Store *Store
	// Keep bounds the folder. A tape that the store doesn't have yet stays in any case, where there is a store.
	Keep Keep
	// Failed is told of each upload that failed; it will be tried again.
	Failed func(error)
	// Sent, where set, is told of each tape that the store has from now on. Taken reports that it has one of that name which another recorder
	// has written.
	Sent  func(t Tape, taken bool)
	Clock clock.WithTicker

	mu    sync.Mutex
	state UploadState
}

// UploadState is how the uploads go.
type UploadState struct {
	// Waiting counts tapes that the store doesn't have; Oldest is when the roll of the oldest of them was over.
	Waiting int
	Oldest  time.Time
	// Uploaded counts tapes, Failures tries.
	Uploaded, Failures int
}

// State returns how the uploads go. It may be called from any goroutine.
func (u *Uploader) State() UploadState {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state
}

// Run looks into the folder whenever told, and at least at each interval, until the context ends or told is closed: then it ends
// what it is at.
func (u *Uploader) Run(ctx context.Context, told <-chan struct{}, every time.Duration) {
	failures := 0
	for {
		pause := every
		if err := u.Once(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			failures++
			pause = pauses.After(failures)
			u.Failed(err)
		} else {
			failures = 0
		}
		timer := u.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case _, more := <-told:
			if !more {
				timer.Stop()
				return
			}
		case <-timer.C():
		}
		timer.Stop()
	}
}

// Once takes to the store what it doesn't have, then removes from the folder what Keep leaves out. One tape that can't be uploaded
// holds up no other.
func (u *Uploader) Once(ctx context.Context) error {
	tapes, err := Finished(u.Folder)
	errs := []error{err}
	if err != nil { // those that can't be read aren't uploaded either
		u.note(func(s *UploadState) { s.Failures++ })
	}
	sent, fresh := map[string]bool{}, map[string]bool{}
	if u.Store != nil {
		var waiting []Tape
		for _, t := range tapes {
			if mark, err := os.ReadFile(u.sentMark(t)); err == nil && string(mark) == u.mark() {
				sent[t.Name] = true
				continue
			}
			waiting = append(waiting, t)
		}
		var failed []Tape
		for i, t := range waiting {
			oldest := t
			if len(failed) > 0 {
				oldest = failed[0]
			}
			u.note(func(s *UploadState) { s.Waiting, s.Oldest = len(failed)+len(waiting)-i, oldest.Ended })
			err := u.upload(ctx, t)
			if err != nil {
				failed = append(failed, t)
				u.note(func(s *UploadState) { s.Failures++ })
				errs = append(errs, err)
				continue
			}
			sent[t.Name], fresh[t.Name] = true, true
			u.note(func(s *UploadState) { s.Uploaded++ })
		}
		u.note(func(s *UploadState) {
			s.Waiting, s.Oldest = len(failed), time.Time{}
			if len(failed) > 0 {
				s.Oldest = failed[0].Ended
			}
		})
	}
	return errors.Join(append(errs, u.tidy(tapes, sent, fresh))...)
}

// upload sends a tape, and marks it in the folder as sent. Another recorder's tape of the roll is as good.
func (u *Uploader) upload(ctx context.Context, t Tape) error {
	within, tooSlow := patience(t.Bytes), errors.New("it took too long")
	ctx, cancel := context.WithTimeoutCause(ctx, within, tooSlow)
	defer cancel()
	err := u.Store.Put(ctx, t, func() (io.ReadCloser, error) { return os.Open(filepath.Join(u.Folder, t.File())) })
	var taken *TakenError
	if err != nil && !errors.As(err, &taken) {
		if errors.Is(context.Cause(ctx), tooSlow) {
			err = fmt.Errorf("%w: found no end of the upload within %v, want 100 kB a second: look at the store and the network; it is tried again", err, within)
		}
		return err
	}
	if err := os.WriteFile(u.sentMark(t), []byte(u.mark()), 0o644); err != nil {
		return err
	}
	if u.Sent != nil {
		u.Sent(t, taken != nil)
	}
	return nil
}

// patience is how long an upload may take until it is tried again: a connection that hangs would keep all other tapes waiting. At 100 kB a
// second it is through.
func patience(bytes int64) time.Duration {
	return 2*time.Minute + time.Duration(bytes/100_000)*time.Second
}

// mark says which store has a tape: another one, which the recorder is given later, hasn't.
func (u *Uploader) mark() string {
	sum := sha256.Sum256([]byte(u.Store.Address))
	return hex.EncodeToString(sum[:])
}

// sentMark is the file that says that the store has a tape.
func (u *Uploader) sentMark(t Tape) string { return filepath.Join(u.Folder, t.Name+".sent") }

// tidy removes what Keep leaves out. What was sent a moment ago stays until the next time: who was told of it may read it.
func (u *Uploader) tidy(tapes []Tape, sent, fresh map[string]bool) error {
	keep, now := u.Keep, u.Clock.Now()
	if u.Store == nil { // nobody else has what was made last
		keep.Last = max(keep.Last, 1)
	}
	surplus := keep.Surplus(tapes, now)
	if u.Store == nil && keep.Size > 0 && len(tapes) > 1 { // groups whose names never come again would fill the disk with their last tapes
		gone := map[string]bool{}
		for _, t := range surplus {
			gone[t.Name] = true
		}
		older, newest := tapes[:len(tapes)-1], tapes[len(tapes)-1]
		rest := slices.DeleteFunc(slices.Clone(older), func(t Tape) bool { return gone[t.Name] })
		surplus = append(surplus, Keep{Size: max(keep.Size-newest.Bytes, 1)}.Surplus(rest, now)...)
	}
	var errs []error
	for _, t := range surplus {
		if u.Store != nil && (!sent[t.Name] || u.Sent != nil && fresh[t.Name]) {
			continue
		}
		for _, name := range []string{filepath.Join(u.Folder, t.File()), filepath.Join(u.Folder, t.Description()), u.sentMark(t)} { // the description goes after what it is of
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func (u *Uploader) note(change func(*UploadState)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(&u.state)
}

// Finished returns the finished tapes of a folder, oldest roll first, and an error that names each description which can't be read.
func Finished(folder string) (tapes []Tape, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), descriptionEnding) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		var t Tape
		if err == nil {
			t, err = Parse(text)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Join(folder, e.Name()), err))
			continue
		}
		tapes = append(tapes, t)
	}
	slices.SortFunc(tapes, Compare)
	return tapes, errors.Join(errs...)
}
