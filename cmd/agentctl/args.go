package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

// takes bounds the number of arguments; most < 0: no bound.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		problem := "too many arguments"
		switch {
		case len(args) < least:
			problem = "an argument is missing"
		case most < 0 || len(args) <= most:
			return nil
		}
		return usagef("%s: %s", cmd.CommandPath(), problem).hinting("usage: %s", cmd.UseLine())
	}
}

// group is a verb that only holds verbs of its own.
func group(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownVerb(cmd, args[0])
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(verbs...)
	return cmd
}

// readText returns the text that an argument stands for: itself, or stdin when it is "-" or there is none and stdin is no
// terminal. One final newline of stdin is not part of it.
func (a *app) readText(args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && isTerminal(a.stdin) {
		return "", usagef("what text? give it as an argument, or - to read it from stdin")
	}
	b, err := io.ReadAll(io.LimitReader(a.stdin, protocol.MaxMessage+1))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	if len(b) > protocol.MaxMessage {
		return "", protocol.Errorf(protocol.CodeTooLarge, "stdin holds more than %d bytes", protocol.MaxMessage)
	}
	text := strings.TrimSuffix(string(b), "\n")
	return strings.TrimSuffix(text, "\r"), nil
}

// readFile reads a file, or stdin when its name is "-".
func (a *app) readFile(name string) ([]byte, error) {
	if name == "-" {
		b, err := io.ReadAll(a.stdin)
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		return b, nil
	}
	return os.ReadFile(name)
}
