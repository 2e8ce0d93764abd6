//go:build !linux

package app

import "github.com/rogpeppe/go-internal/testscript"

func onTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("terminal: on Linux only; the script has to say [!linux] stop")
}

func conversation(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("conversation: on Linux only; the script has to say [!linux] stop")
}
