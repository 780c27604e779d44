package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
)

// helpOf returns what a command line prints.
func helpOf(t *testing.T, line string) string {
	t.Helper()
	var out strings.Builder
	cli := &verb.Context{
		Stdin: strings.NewReader(""), Out: output.Printer{Stdout: &out, Stderr: io.Discard},
		Env: func(string) string { return "" },
	}
	if code := Execute(t.Context(), cli, strings.Fields(line)); code != exit.OK {
		t.Fatalf("%q exits %d", line, code)
	}
	return out.String()
}

// The help of the program fits two screens of 24 lines, and names every verb.
func TestTheHelpOfTheProgramFitsTwoScreens(t *testing.T) {
	help := helpOf(t, "--help")
	if lines := strings.Count(help, "\n"); lines > 48 {
		t.Errorf("%d lines", lines)
	}
	words := strings.Fields(help)
	described := helpOf(t, "help verbs")
	for _, v := range Verbs() {
		if !strings.Contains(described, "\n  "+v.Name()+" ") {
			t.Errorf("help verbs lacks %s", v.Name())
		}
		found := false
		for _, word := range words {
			found = found || word == v.Name()
		}
		if !found {
			t.Errorf("help lacks %s", v.Name())
		}
	}
}

func TestHelpFlagsListsEveryGlobalFlag(t *testing.T) {
	help := helpOf(t, "help flags")
	NewRoot(&verb.Context{}).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(help, "--"+f.Name+" ") {
			t.Errorf("help flags lacks --%s", f.Name)
		}
	})
}

// What a verb does is a paragraph; pages of docs have the rest.
func TestTheTextOfAVerbIsAParagraph(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if lines := strings.Count(cmd.Long, "\n") + 1; lines > 6 || strings.Contains(cmd.Long, "\n\n") {
			t.Errorf("%s: a text of %d lines", cmd.CommandPath(), lines)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(NewRoot(&verb.Context{}))
}
