package verb

import (
	"github.com/spf13/cobra"

	"agentctl/protocol"
)

// NoFiles completes without the names of files.
const NoFiles = cobra.ShellCompDirectiveNoFileComp

// CompleteValues completes a flag with fixed values.
func CompleteValues(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, NoFiles)) // fails only for unknown flags
}

// CompleteDirs completes a flag with directories.
func CompleteDirs(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

// RoleNames returns the names of roles.
func RoleNames(roles []protocol.Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return names
}
