package sessions

import (
	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

var renameVerb = verb.Verb{
	Use:   "rename SESSION [NAME]",
	Short: "Rename a session",
	Long: "Set the name of a session, which must be unique, or its title. An empty NAME " +
		"removes the name.",
	Example: "  agentctl rename 01j9 fix\n  agentctl rename fix --title \"Login fails on Safari\"",
	Group:   verb.GroupSession, Sends: protocol.DoRename, Trial: "fix fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Flags: func(cmd *cobra.Command) { cmd.Flags().String("title", "", "new title `TEXT`") },
		Data: func(in *call.Input) (any, error) {
			var data protocol.RenameData
			if len(in.Args) > 0 {
				data.Name = &in.Args[0]
			}
			if in.Flags.Changed("title") {
				title := in.String("title")
				data.Title = &title
			}
			if data.Name == nil && data.Title == nil {
				return nil, exit.Usagef("no change: pass NAME or --title")
			}
			return data, nil
		},
	},
}
