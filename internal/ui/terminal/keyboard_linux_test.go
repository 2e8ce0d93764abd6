package terminal

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/internal/ui/player"
)

// keysAre fails where the terminal isn't set to single keys, or not to whole lines.
func keysAre(t *testing.T, when string, fd int, single bool) {
	t.Helper()
	is, err := unix.IoctlGetTermios(fd, termiosGet)
	if err != nil {
		t.Fatal(err)
	}
	if got := is.Lflag&unix.ICANON == 0; got != single {
		t.Errorf("%s: single keys: found %v, want %v", when, got, single)
	}
}

// A keyboard that was given back reads on when it is taken again, and never after its
// end.
func TestKeyboardThatIsGivenBack(t *testing.T) {
	ctrl, tty, err := testcluster.NewTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ctrl.Close(); _ = tty.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	fd := int(tty.Fd())
	k := ReadKeys(tty)
	keysAre(t, "open", fd, true)
	for range 3 {
		if err := k.Suspend(); err != nil {
			t.Fatal(err)
		}
		keysAre(t, "suspended", fd, false)
		if err := k.Resume(); err != nil {
			t.Fatal(err)
		}
		keysAre(t, "resumed", fd, true)
		if _, err := ctrl.WriteString("?"); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-k.typed:
			if got != player.KeyHelp {
				t.Errorf("found key %v, want %v", got, player.KeyHelp)
			}
		case <-ctx.Done():
			t.Fatalf("found no key: %v", ctx.Err())
		}
	}
	k.Close()
	k.Close()
	if err := k.Resume(); err != nil {
		t.Fatal(err)
	}
	keysAre(t, "closed", fd, false)
}

// The end of one that is suspended, and of one whose terminal is gone, is waited for.
func TestKeyboardThatEnds(t *testing.T) {
	for _, gone := range []bool{false, true} {
		ctrl, tty, err := testcluster.NewTerminal()
		if err != nil {
			t.Fatal(err)
		}
		k := ReadKeys(tty)
		if gone {
			_ = ctrl.Close() // from here on a read is EIO
		} else if err := k.Suspend(); err != nil {
			t.Fatal(err)
		}
		k.Close()
		_, _ = ctrl.Close(), tty.Close()
	}
}
