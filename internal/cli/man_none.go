//go:build !man

package cli

import (
	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

// releaseVerbs returns the verbs for making a release. The product has none.
func releaseVerbs(*verb.Build) []*cobra.Command { return nil }
