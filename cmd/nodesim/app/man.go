package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write man pages into a folder",
		GroupID: "else",
		Hidden:  true,
		Example: examples(`nodesim man /usr/local/share/man/man1`),
		Args:    arguments(1, 1, "one folder"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

// writeManPages writes a page for the command and each that it has, as nodesim-replay.1.
func writeManPages(cmd *cobra.Command, folder string) error {
	file := filepath.Join(folder, manName(cmd)+".1")
	if err := os.WriteFile(file, []byte(manPage(cmd)), 0o644); err != nil {
		return fmt.Errorf("man page: %w", err)
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeManPages(sub, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of one command in the man macros of troff (man-pages(7), groff_man(7)). It has no date, so that equal
// programs write equal pages.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" nodesim nodesim\n", strings.ToUpper(manName(cmd)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roffText(manName(cmd)), roffText(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", roffText(cmd.UseLine()))
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	b.WriteString(roffProse(long))
	titles, sections := flagSections(cmd.NonInheritedFlags())
	for i, title := range titles {
		roffFlags(&b, strings.Replace(strings.ToUpper(title), "FLAGS", "OPTIONS", 1), sections[i])
	}
	roffFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + roffLiteral(strings.Split(strings.Trim(cmd.Example, "\n"), "\n")))
	}
	if also := manAlso(cmd); len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(also, ",\n") + "\n")
	}
	return b.String()
}

// manAlso names the pages of the commands above and below.
func manAlso(cmd *cobra.Command) []string {
	var also []string
	if cmd.HasParent() {
		also = append(also, roffText(manName(cmd.Parent()))+"(1)")
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, roffText(manName(sub))+"(1)")
		}
	}
	return also
}

func roffFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roffText(strings.TrimSpace(name+" "+kind)), roffText(usage))
	})
}

// roffProse fills paragraphs, and leaves indented lines as they are.
func roffProse(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		b.WriteString(".PP\n")
		if lines := strings.Split(paragraph, "\n"); strings.HasPrefix(lines[0], " ") {
			b.WriteString(roffLiteral(lines))
		} else {
			b.WriteString(roffText(paragraph) + "\n")
		}
	}
	return b.String()
}

func roffLiteral(lines []string) string {
	return ".nf\n" + roffText(strings.Join(lines, "\n")) + "\n.fi\n"
}

// roffText makes text of what troff would read as escapes, hyphens and requests.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
