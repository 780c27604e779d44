package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of help in columns, for any terminal.
const helpWidth = 80

// usedFlags are the flags in the help of the program; "agentctl help flags" lists all.
var usedFlags = []string{"server", "on", "as", "output", "jq", "timeout"}

const moreHelp = `
More:
  agentctl help VERB    a verb
  agentctl help verbs   all verbs, described
  agentctl help flags   the flags of all verbs
`

// printUsage writes the usage of the program or of a verb.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	if cmd.HasParent() {
		writeVerbUsage(&b, cmd)
	} else {
		writeProgramUsage(&b, cmd)
	}
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// writeProgramUsage writes the verbs by group, the flags that most users need, and the topics.
func writeProgramUsage(w io.Writer, root *cobra.Command) {
	fmt.Fprintf(w, "Usage:\n  %s [command]\n", root.CommandPath())
	writeGroups(w, root)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range usedFlags {
		flags.AddFlag(root.PersistentFlags().Lookup(name))
	}
	fmt.Fprintf(w, "\nFlags:\n%s\nExamples:\n%s\n%s", flags.FlagUsages(), root.Example, moreHelp)
}

// writeVerbUsage writes the lines of a verb, its flags, its examples and the verbs below it.
func writeVerbUsage(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command]\n", cmd.CommandPath())
	}
	if help := cmd.Flags().Lookup("help"); help != nil {
		help.Hidden = true
	}
	if flags := cmd.LocalFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(w, "\nFlags:\n%s", flags)
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nAvailable Commands:\n")
		writeVerbs(w, cmd.Commands())
	}
	fmt.Fprintf(w, "\nMore: agentctl help flags\n")
}

// writeGroups writes the verbs of the program: the first group described, of the others the names.
func writeGroups(w io.Writer, root *cobra.Command) {
	for i, g := range root.Groups() {
		verbs := verbsOf(root, g.ID)
		if len(verbs) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", g.Title)
		if i == 0 {
			writeVerbs(w, verbs)
			continue
		}
		var names []string
		for _, v := range verbs {
			names = append(names, v.Name())
		}
		for line := range strings.Lines(wrapWords(strings.Join(names, " "), helpWidth-2)) {
			fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
}

// verbsOf returns the verbs of a group that help shows.
func verbsOf(root *cobra.Command, group string) (verbs []*cobra.Command) {
	for _, v := range root.Commands() {
		if v.GroupID == group && v.IsAvailableCommand() {
			verbs = append(verbs, v)
		}
	}
	return verbs
}

// writeVerbs writes a line for each verb.
func writeVerbs(w io.Writer, verbs []*cobra.Command) {
	for _, v := range verbs {
		if v.IsAvailableCommand() {
			fmt.Fprintf(w, "  %-11s %s\n", v.Name(), v.Short)
		}
	}
}

// wrapHelp wraps the help of a command and its subcommands to helpWidth. Descriptions of flags are
// short enough.
func wrapHelp(cmd *cobra.Command) {
	cmd.Long = wrapParagraphs(cmd.Long)
	for _, sub := range cmd.Commands() {
		wrapHelp(sub)
	}
}

// wrapParagraphs wraps paragraphs that are not indented.
func wrapParagraphs(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if !strings.HasPrefix(block, " ") {
			blocks[i] = wrapWords(block, helpWidth)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// wrapWords wraps text at spaces only, so that flags stay whole.
func wrapWords(text string, columns int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+width > columns:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}
