package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by -ldflags "-X main.version=v1.2.3".
var version string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: "else",
		Example: examples(`nodesim version`),
		Args:    arguments(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "nodesim %s %s %s/%s\n", versionOf(debug.ReadBuildInfo()), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versionOf returns what the linker was told, or the module's version (go install
// of a version), or the commit that was built.
func versionOf(info *debug.BuildInfo, ok bool) string {
	switch {
	case version != "":
		return version
	case !ok:
		return "unknown"
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value
		}
	}
	return "devel"
}
