package golden

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/testcommand"
)

const (
	flagUpdate = "update"
	envUpdate  = "NODESIM_UPDATE"
)

// Updating reports whether [Assert] was asked to write files in place of
// comparing: by a boolean flag -update, registered by any package, or by
// NODESIM_UPDATE (anything but empty, false and 0). It says nothing about CI,
// where Assert refuses.
func Updating() bool {
	set, _ := boolFlag(flag.CommandLine, flagUpdate)
	return set || isSet(os.Getenv(envUpdate))
}

// ciVariable returns the value of CI, or "" where it is unset or denies itself.
func ciVariable() string {
	if ci := os.Getenv("CI"); isSet(ci) {
		return ci
	}
	return ""
}

// isSet reads a variable as build services write them: any value is yes,
// except those that plainly mean no.
func isSet(value string) bool {
	if on, err := strconv.ParseBool(value); err == nil {
		return on
	}
	return value != ""
}

// registerUpdate registers -update where that is possible and useful: no one
// else has the name, and the command line has not been parsed yet.
func registerUpdate(flags *flag.FlagSet) {
	if flags.Parsed() || flags.Lookup(flagUpdate) != nil {
		return
	}
	flags.Bool(flagUpdate, false, "rewrite the golden files in testdata with what the tests get (or "+envUpdate+"=1)")
}

// boolFlag returns the value of a boolean flag and whether there is one.
func boolFlag(flags *flag.FlagSet, name string) (value, ok bool) {
	f := flags.Lookup(name)
	if f == nil {
		return false, false
	}
	if b, isBool := f.Value.(interface{ IsBoolFlag() bool }); !isBool || !b.IsBoolFlag() {
		return false, false
	}
	value, err := strconv.ParseBool(f.Value.String())
	return value, err == nil
}

// acceptCommand is the shell command that accepts what the test got, and
// nothing else, from any folder of the module.
func acceptCommand(test string) string {
	_, hasFlag := boolFlag(flag.CommandLine, flagUpdate)
	return command(packagePath(), test, hasFlag)
}

func command(pkg, test string, hasFlag bool) string {
	run := "go test " + testcommand.Quote(pkg) + " -run " + testcommand.Quote(testcommand.Pattern(test))
	if hasFlag {
		return run + " -" + flagUpdate
	}
	return envUpdate + "=1 " + run
}

// packagePath is the import path of the package under test. The go command
// records it in the binary with the ending .test; where something else built
// the binary, the package's folder is the best name.
func packagePath() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if pkg, isTest := strings.CutSuffix(info.Path, ".test"); isTest && pkg != "" {
			return pkg
		}
	}
	return "."
}
