package verb

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/internal/exit"
)

// A Usage has the arguments of a verb, as its Use names them.
type Usage []string

// Usage returns the arguments of a verb.
func (v *Verb) Usage() Usage { return strings.Fields(v.Use)[1:] }

// Repeats reports whether the last argument may be passed more than once.
func (u Usage) Repeats() bool { return strings.HasSuffix(strings.TrimSuffix(u.last(), "]"), "…") }

// ReadsText reports whether the last argument may be read from stdin.
func (u Usage) ReadsText() bool { return u.last() == "[TEXT|-]" }

func (u Usage) last() string {
	if len(u) == 0 {
		return ""
	}
	return u[len(u)-1]
}

// count returns how many arguments a verb takes at least and at most; atMost < 0: no limit.
func (u Usage) count() (atLeast, atMost int) {
	for _, name := range u {
		if !strings.HasPrefix(name, "[") {
			atLeast++
		}
	}
	if u.Repeats() {
		return atLeast, -1
	}
	return atLeast, len(u)
}

// checkArgs returns an error if a command line has too few or too many arguments, or an empty one.
func (v *Verb) checkArgs(cmd *cobra.Command, args []string) error {
	atLeast, atMost := v.Usage().count()
	if v.Most > 0 {
		atMost = v.Most
	}
	problem := "too many arguments"
	switch {
	case len(args) < atLeast:
		problem = "missing argument"
	case atMost < 0 || len(args) <= atMost:
		return checkEmptyArgs(cmd, args)
	}
	return exit.Usagef("%s: %s", cmd.CommandPath(), problem).WithHint("usage: %s", cmd.UseLine())
}

// idArgs are the arguments that name something.
var idArgs = []string{"SESSION", "REQUEST", "MESSAGE", "HOLD", "RULE", "TASK", "ID", "FILE", "FILE|-"}

// checkEmptyArgs returns an error if an argument that names something is empty, such as an unset
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

// nonEmpty is the annotation of the flags that may not be passed without a value.
const nonEmpty = "agentctl_non_empty"

// RequireValues makes an empty value of flags wrong usage: those that restrict a verb to something,
// or name a time or a server. Without the value the verb would do more, or something else.
func RequireValues(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, nonEmpty, nil) // fails for a flag that is not defined
	}
}

// CheckEmptyFlags returns an error if a flag of RequireValues is passed without a value.
func CheckEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, required := f.Annotations[nonEmpty]; required && f.Value.String() == "" && err == nil {
			err = exit.Usagef("--%s is empty", f.Name).WithHint("usage: %s", cmd.UseLine())
		}
	})
	return err
}

// AddKeyFlag adds --key, the idempotency key of the verb's command, and its alias --id.
func AddKeyFlag(cmd *cobra.Command, key *string) {
	f := cmd.Flags()
	f.StringVar(key, "key", "", "idempotency `KEY`: retries happen once")
	f.StringVar(key, "id", "", "alias of --key")
	_ = f.MarkHidden("id")
	RequireValues(f, "key", "id")
}

// ParsePairs parses K=V arguments of a flag.
func ParsePairs(flag string, pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := make(map[string]string, len(pairs))
	for _, kv := range pairs {
		k, v, err := ParsePair(flag, kv)
		if err != nil {
			return nil, err
		}
		m[k] = v
	}
	return m, nil
}

// ParsePair splits K=V, the value of a flag. Else it returns a usage error.
func ParsePair(flag, kv string) (k, v string, err error) {
	k, v, ok := strings.Cut(kv, "=")
	if !ok || k == "" {
		return "", "", exit.Usagef("invalid %s %q: want K=V", flag, kv)
	}
	return k, v, nil
}
