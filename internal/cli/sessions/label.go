package sessions

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

type labelOptions struct {
	verb.Options

	Session string
	Changes map[string]string // an empty value removes
}

var labelVerb = verb.Verb{
	Use:   "label SESSION [KEY=VALUE|KEY-]…",
	Most:  protocol.MaxLabels + 1,
	Short: "Set, remove and show labels of a session",
	Long: "Set labels of a session with KEY=VALUE and remove them with KEY-, then show all labels. A " +
		"session has at most 32 labels. \"agentctl ls --filter label=KEY=VALUE\" and the filter of the " +
		"session list find them.",
	Example: "  agentctl label fix team=infra ticket-\n  agentctl label fix",
	Group:   verb.GroupSession, Sends: protocol.DoLabel,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[labelOptions]{
		Read: func(o *labelOptions, args []string) (err error) {
			o.Session = args[0]
			o.Changes, err = parseLabelChanges(args[1:])
			return err
		},
		Run: runLabel,
	},
}

// parseLabelChanges parses KEY=VALUE and KEY- into a map in which an empty value removes a label.
func parseLabelChanges(args []string) (map[string]string, error) {
	changes := make(map[string]string, len(args))
	for _, arg := range args {
		key, value, set := strings.Cut(arg, "=")
		if !set {
			var removed bool
			if key, removed = strings.CutSuffix(arg, "-"); !removed {
				return nil, exit.Usagef("invalid label %q: want KEY=VALUE, or KEY- to remove it", arg)
			}
		} else if value == "" {
			return nil, exit.Usagef("the label %q has no value: pass %s- to remove it", key, key)
		}
		if _, twice := changes[key]; twice {
			return nil, exit.Usagef("the label %q is there twice", key)
		}
		changes[key] = value
	}
	if err := protocol.CheckLabels(changes); err != nil {
		return nil, exit.Usagef("%w", err)
	}
	return changes, nil
}

func runLabel(ctx context.Context, o *labelOptions) error {
	result := protocol.LabelResult{Labels: map[string]string{}} // an object in JSON, not null
	if len(o.Changes) == 0 {
		snap, err := connection.Snapshot(ctx, o.CLI, o.Session)
		if err != nil {
			return err
		}
		maps.Copy(result.Labels, snap.Snapshot.State.Labels)
	} else {
		var err error
		result, err = connection.CallOnce[protocol.LabelResult](ctx, o.CLI, protocol.DoLabel, o.Session,
			protocol.LabelData{Labels: o.Changes})
		if err != nil {
			return err
		}
	}
	return o.CLI.Out.Print(result, func(w io.Writer) {
		for _, key := range slices.Sorted(maps.Keys(result.Labels)) {
			fmt.Fprintln(w, key+"="+result.Labels[key])
		}
	})
}
