//go:build man

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// releaseVerbs returns the verbs for making a release: "man DIR" writes the man pages.
func releaseVerbs() []*cobra.Command {
	return []*cobra.Command{{
		Use:    "man DIR",
		Hidden: true,
		Args:   rangeArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "AGENTCTL", Section: "1", Source: "agentctl " + version}
			return doc.GenManTree(root, header, args[0])
		},
	}}
}
