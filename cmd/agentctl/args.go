package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
)

// rangeArgs accepts atLeast to atMost arguments; atMost < 0: no upper limit.
func rangeArgs(atLeast, atMost int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		problem := "too many arguments"
		switch {
		case len(args) < atLeast:
			problem = "missing argument"
		case atMost < 0 || len(args) <= atMost:
			return checkEmptyArgs(cmd, args)
		}
		return exit.Usagef("%s: %s", cmd.CommandPath(), problem).WithHint("usage: %s", cmd.UseLine())
	}
}

// idArgs are the arguments that name something.
var idArgs = []string{"SESSION", "REQUEST", "MESSAGE", "HOLD", "RULE", "TASK", "ID", "FILE", "FILE|-"}

// checkEmptyArgs returns an error if an argument that names something is empty, as that of an unset
// variable is. Without the argument some verbs choose what they act on, or act on all.
func checkEmptyArgs(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	if len(names) > 1 && names[0] == "[SESSION]" && len(args) < len(names) { // the other arguments
		names = names[1:]
	}
	for i, arg := range args {
		if len(names) == 0 {
			break
		}
		name := strings.Trim(names[min(i, len(names)-1)], "[]…")
		if arg == "" && slices.Contains(idArgs, name) {
			return exit.Usagef("%s: %s is empty", cmd.CommandPath(), name).WithHint("usage: %s", cmd.UseLine())
		}
	}
	return nil
}

// idFlags are the flags that restrict a verb to something, or name a time or a server.
var idFlags = []string{"server", "on", "data", "key", "id", "session", "message", "turn", "option", "at"}

// checkEmptyFlags returns an error if one of idFlags is passed without a value: without it the verb
// would do more, or something else.
func checkEmptyFlags(cmd *cobra.Command) error {
	for _, name := range idFlags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return exit.Usagef("--%s is empty", name).WithHint("usage: %s", cmd.UseLine())
		}
	}
	return nil
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
