package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/dialect"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/protocol/codec"
)

// hideUnsupported removes the verbs and flags that a dialect carries at no server from help and
// completion.
func hideUnsupported(parent *cobra.Command, d *codec.Dialect) {
	for _, cmd := range parent.Commands() {
		hideUnsupported(cmd, d)
		v := verb.Find(Verbs(), verb.Path(cmd))
		if v == nil {
			continue
		}
		empty := cmd.HasSubCommands() && !cmd.HasAvailableSubCommands() && v.Sends == ""
		empty = empty || v.Unlisted != nil && v.Unlisted(d)
		if cmd.Hidden = cmd.Hidden || empty || v.Unsupported(d) != nil; cmd.Hidden {
			continue
		}
		for _, n := range v.Needs {
			if v.UnsupportedFlag(d, n.Flag, !v.Waits) != nil {
				_ = cmd.Flags().MarkHidden(n.Flag) // fails for a value of a flag, which help does not list
			}
		}
	}
	for _, cmd := range slices.Concat(parent.Commands(), []*cobra.Command{parent}) {
		hideExamples(cmd)
	}
}

// hideExamples removes the examples with a hidden verb or flag from the help of a command.
func hideExamples(cmd *cobra.Command) {
	lines := slices.DeleteFunc(strings.Split(cmd.Example, "\n"), func(line string) bool {
		hidden := false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			hidden = hidden || f.Hidden && strings.Contains(line, "--"+f.Name+" ")
		})
		for _, verb := range cmd.Root().Commands() {
			hidden = hidden || verb.Hidden && strings.Contains(line, "agentctl "+verb.Name())
		}
		return hidden
	})
	cmd.Example = strings.Join(lines, "\n")
}

// findDialect returns the dialect that flags in args, the environment or the configuration select,
// before the flags are parsed. ok is false for none.
func findDialect(cli *verb.Context, args []string) (_ codec.Dialect, ok bool) {
	name := flagValue(args, "--dialect")
	if name == "" {
		name = cli.Env("AGENTCTL_DIALECT")
	}
	local := flagValue(args, "--data") != ""
	if name == "" && flagValue(args, "--server") == "" && cli.Env("AGENTCTL_SERVER") == "" && !local {
		if u, err := config.ReadUser(cli.Env); err == nil {
			name = u.Dialect
		}
	}
	return dialect.Find(name)
}

// flagValue returns the last value of a flag in arguments that are not parsed yet. names are its
// forms, such as --output and -o.
func flagValue(args []string, names ...string) (value string) {
	for i, arg := range args {
		if arg == "--" {
			return value
		}
		for _, name := range names {
			rest, ok := strings.CutPrefix(arg, name)
			switch {
			case !ok:
			case rest == "" && i+1 < len(args):
				value = args[i+1]
			case strings.HasPrefix(rest, "="):
				value = rest[1:]
			case len(name) == len("-o"):
				value = rest
			}
		}
	}
	return value
}
