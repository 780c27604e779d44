package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

func TestVerbsHaveTheNamesOfTheirCommands(t *testing.T) {
	cli := &verb.Context{Env: func(string) string { return "" }}
	var check func([]*verb.Verb)
	check = func(verbs []*verb.Verb) {
		for _, v := range verbs {
			if got := v.Command(cli, nil).Name(); got != v.Name() {
				t.Errorf("verb %q builds the command %q", v.Name(), got)
			}
			check(v.Below)
		}
	}
	check(Verbs())
}

func TestOnlyTheNamedVerbIsBuilt(t *testing.T) {
	cli := &verb.Context{Env: func(string) string { return "" }}
	for line, want := range map[string]string{
		"ls":                            "agentctl ls",
		"--server ws://host -o json ls": "agentctl ls",
		"queue edit fix m_1 text":       "agentctl queue edit",
		"send --help":                   "agentctl send",
		"send fix ls":                   "agentctl send",
	} {
		args := strings.Fields(line)
		root := newRootFor(cli, args)
		cmd, _, err := root.Find(args)
		if err != nil || cmd.CommandPath() != want {
			t.Errorf("%q finds %q, want %q: %v", line, cmd.CommandPath(), want, err)
		}
		if built := len(root.Commands()); built != 1 && line != "send fix ls" {
			t.Errorf("%q builds %d verbs", line, built)
		}
	}
}

func TestAllVerbsAreBuiltForHelpAndMistakes(t *testing.T) {
	cli := &verb.Context{Env: func(string) string { return "" }}
	for _, line := range []string{
		"", "--help", "help send", "sned fix", "fix send", "--server ls", "completion bash", "__complete s",
		"--version", "-o send", "--dialect multiagent send --help",
	} {
		root := newRootFor(cli, strings.Fields(line))
		names := func(cmds []*cobra.Command) (names []string) {
			for _, cmd := range cmds {
				names = append(names, cmd.Name())
			}
			return names
		}
		if got, want := names(root.Commands()), names(NewRoot(cli).Commands()); !slices.Equal(got, want) {
			t.Errorf("%q builds %q, want %q", line, got, want)
		}
	}
}
