package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestVerbsHaveTheNamesOfTheirCommands(t *testing.T) {
	a := &app{env: func(string) string { return "" }}
	for _, v := range verbs() {
		if got := v.build(a).Name(); got != v.name {
			t.Errorf("verb %q builds the command %q", v.name, got)
		}
	}
}

func TestOnlyTheNamedVerbIsBuilt(t *testing.T) {
	a := &app{env: func(string) string { return "" }}
	for line, want := range map[string]string{
		"ls":                            "agentctl ls",
		"--server ws://host -o json ls": "agentctl ls",
		"queue edit fix m_1 text":       "agentctl queue edit",
		"send --help":                   "agentctl send",
		"send fix ls":                   "agentctl send",
	} {
		args := strings.Fields(line)
		root := newRootFor(a, args)
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
	a := &app{env: func(string) string { return "" }}
	for _, line := range []string{
		"", "--help", "help send", "sned fix", "fix send", "--server ls", "completion bash", "__complete s",
		"--version", "-o send", "--dialect multiagent send --help",
	} {
		root := newRootFor(a, strings.Fields(line))
		names := func(cmds []*cobra.Command) (names []string) {
			for _, cmd := range cmds {
				names = append(names, cmd.Name())
			}
			return names
		}
		if got, want := names(root.Commands()), names(newRoot(a).Commands()); !slices.Equal(got, want) {
			t.Errorf("%q builds %q, want %q", line, got, want)
		}
	}
}
