//go:build man

package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/manpage"
)

// manDocuments are the documents of the repository that become man pages.
var manDocuments = []struct{ page, section, path string }{
	{"agentctl-config", "5", "docs/config.md"},
	{"agentctl-protocol", "7", "docs/protocol.md"},
}

// releaseVerbs returns the verbs for making a release: "man DIR", in the root of the repository,
// writes the man pages.
func releaseVerbs(b *verb.Build) []*cobra.Command {
	return []*cobra.Command{{
		Use:    "man DIR",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := writeManPages(args[0], cmd.Root(), b); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			return nil
		},
	}}
}

// writeManPages writes the pages into a directory for each section.
func writeManPages(dir string, root *cobra.Command, b *verb.Build) error {
	_, date, _ := b.Revision()
	header := manpage.Header{Source: b.UserAgent(), Date: date[:min(len(date), len("2006-01-02"))]}
	var see []string
	for _, d := range manDocuments {
		source, err := os.ReadFile(d.path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, "man"+d.section)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		see = append(see, d.page+"."+d.section)
		page := manpage.FromMarkdown(header, d.page, d.section, source)
		if err := os.WriteFile(filepath.Join(to, d.page+"."+d.section), page, 0o644); err != nil {
			return err
		}
	}
	verbs := filepath.Join(dir, "man1")
	if err := os.MkdirAll(verbs, 0o755); err != nil {
		return err
	}
	return manpage.WriteCommands(verbs, header, root, see...)
}
