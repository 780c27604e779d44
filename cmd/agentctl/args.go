package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// rangeArgs accepts atLeast to atMost arguments; atMost < 0: no upper limit.
func rangeArgs(atLeast, atMost int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		problem := "too many arguments"
		switch {
		case len(args) < atLeast:
			problem = "missing argument"
		case atMost < 0 || len(args) <= atMost:
			return nil
		}
		return exit.Usagef("%s: %s", cmd.CommandPath(), problem).WithHint("usage: %s", cmd.UseLine())
	}
}

// groupCommand makes cmd a group of verbs without an action of its own.
func groupCommand(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(verbs...)
	return cmd
}

// addKeyFlag adds --key, the idempotency key of the verb's command, and its alias --id.
func addKeyFlag(cmd *cobra.Command, key *string) {
	f := cmd.Flags()
	f.StringVar(key, "key", "", "idempotency `KEY`: retries happen once")
	f.StringVar(key, "id", "", "alias of --key")
	_ = f.MarkHidden("id")
}

// readText returns the text of an optional argument: the argument itself, or stdin if it is "-", or
// if it is missing and stdin is not a terminal. One final newline of stdin is removed.
func (a *app) readText(args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && output.IsTerminal(a.stdin) {
		return "", exit.Usagef("no message: pass TEXT, or - to read stdin")
	}
	b, err := io.ReadAll(io.LimitReader(a.stdin, protocol.MaxMessage+1))
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	if len(b) > protocol.MaxMessage {
		return "", protocol.Errorf(protocol.CodeTooLarge, "stdin is larger than %d bytes", protocol.MaxMessage)
	}
	text := strings.TrimSuffix(string(b), "\n")
	return strings.TrimSuffix(text, "\r"), nil
}

// readFile reads a file, or stdin if name is "-".
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

// parsePairs parses K=V arguments of a flag.
func parsePairs(flag string, pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := make(map[string]string, len(pairs))
	for _, kv := range pairs {
		k, v, err := parsePair(flag, kv)
		if err != nil {
			return nil, err
		}
		m[k] = v
	}
	return m, nil
}

func parsePair(flag, kv string) (k, v string, err error) {
	k, v, ok := strings.Cut(kv, "=")
	if !ok || k == "" {
		return "", "", exit.Usagef("invalid %s %q: want K=V", flag, kv)
	}
	return k, v, nil
}
