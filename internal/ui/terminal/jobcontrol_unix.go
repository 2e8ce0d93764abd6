//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollInterval is the interval at which it is looked whether a program in the background was
// brought to the foreground, of which no signal tells.
const pollInterval = 200 * time.Millisecond

// Hold has signals give a terminal back, until release is called, which gives back
// nothing itself.
//
// The first signal that ends the program ends its work cleanly (func main).
// A second one, or SIGQUIT, ends the program at once, and ctrl-z stops it: its parts
// are suspended before. When it goes on in the foreground they are resumed; in the
// background they are suspended, from the beginning too, and the work goes on.
func Hold(ctx context.Context, tty *os.File, suspendables ...Suspendable) (release func()) {
	h := &jobControl{tty: tty, suspendables: suspendables, signals: make(chan os.Signal, 8), asked: ctx.Err() != nil}
	signal.Notify(h.signals, append(EndSignals(), unix.SIGQUIT, unix.SIGCONT)...)
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(h.signals, unix.SIGTSTP)
	}
	if !h.inForeground() {
		h.suspend()
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		look := time.NewTicker(pollInterval)
		defer look.Stop()
		for {
			select {
			case s := <-h.signals:
				h.obey(s.(syscall.Signal))
			case <-look.C:
				if h.away && h.inForeground() {
					h.resume()
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(h.signals)
		close(done)
		watching.Wait()
	}
}

// A jobControl is a terminal that is held. It is for one goroutine.
type jobControl struct {
	tty          *os.File
	suspendables []Suspendable
	signals      chan os.Signal
	asked        bool            // a signal has asked for the end
	away         bool            // they are suspended
	ending       bool            // they stay so: the signal that ends the program is on its way
	given        <-chan struct{} // closed when the last suspension is over; nil before the first
}

func (h *jobControl) obey(s syscall.Signal) {
	switch {
	case s == unix.SIGTSTP:
		h.suspend()
		h.stop()
	case s == unix.SIGCONT && h.inForeground():
		h.resume()
	case s == unix.SIGCONT:
		h.suspend()
	case !h.asked && s != unix.SIGQUIT:
		h.asked = true
	default:
		h.suspend()
		h.ending = true
		signal.Reset(s)
		_ = unix.Kill(unix.Getpid(), s) // the default of each of them is the end
	}
}

func (h *jobControl) suspend() {
	if !h.away {
		h.given = suspendAll(h.suspendables)
		h.away = true
	}
}

// resume takes them again. While a terminal that takes nothing keeps some of them
// from being suspended it does nothing: it is tried again with the next look around.
func (h *jobControl) resume() {
	if h.ending {
		return
	}
	if h.given != nil {
		select {
		case <-h.given:
		default:
			return
		}
	}
	resumeAll(h.suspendables)
	h.away = false
}

// stop stops the program, and returns when it continues: SIGCONT was obeyed then. A
// handler of Go's stays after signal.Notify (runtime, func disableSignal), so that
// only SIGSTOP stops. Without a shell that could let it continue nothing is stopped, as
// SIGTSTP itself would do nothing (POSIX, 2.4.3): the terminal is taken again.
func (h *jobControl) stop() {
	session, err := unix.Getsid(0)
	if err != nil || session == unix.Getpgrp() || unix.Kill(unix.Getpid(), unix.SIGSTOP) != nil {
		h.obey(unix.SIGCONT)
		return
	}
	for s := range h.signals {
		if s != unix.SIGTSTP { // typed twice
			h.obey(s.(syscall.Signal))
		}
		if s == unix.SIGCONT {
			return
		}
	}
}

// inForeground reports whether the terminal's keys are this program's: what a
// program in the background writes tears the lines of others, and what it reads or
// sets stops it (SIGTTIN, SIGTTOU).
func (h *jobControl) inForeground() bool { return inForeground(int(h.tty.Fd())) }

func inForeground(tty int) bool {
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
