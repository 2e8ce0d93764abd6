package app

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManPage checks a page by what troff would make of it: no text may end as a request or an escape.
func TestManPage(t *testing.T) {
	root := &cobra.Command{Use: "nodesim", Short: "Rolls"}
	show := &cobra.Command{
		Use: "show FILE", Short: "Show a tape",
		Long:    "Show it,\n.SH not a title.\n\n    C:\\tape --fast\n\nThe end.",
		Example: "  nodesim show roll.yaml",
		Run:     func(*cobra.Command, []string) {},
	}
	show.Flags().StringP("speed", "s", "1x", "how fast, as `FACTOR`")
	show.Flags().Bool("secret", false, "not shown")
	if err := show.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(show)
	const want = `.TH "NODESIM-SHOW" 1 "" nodesim nodesim
.SH NAME
nodesim\-show \- Show a tape
.SH SYNOPSIS
.B nodesim show FILE [flags]
.SH DESCRIPTION
.PP
Show it,
\&.SH not a title.
.PP
.nf
    C:\etape \-\-fast
.fi
.PP
The end.
.SH OPTIONS
.TP
.B \-h, \-\-help
help for show
.TP
.B \-s, \-\-speed FACTOR
how fast, as FACTOR
.SH EXAMPLES
.nf
  nodesim show roll.yaml
.fi
.SH SEE ALSO
nodesim(1)
`
	if got := manPage(show); got != want {
		t.Errorf("found:\n%s\nwant:\n%s", got, want)
	}
	if got := manPage(root); !strings.HasSuffix(got, ".SH SEE ALSO\nnodesim\\-show(1)\n") {
		t.Errorf("found no page of the verb in the root's: %s", got)
	}
}
