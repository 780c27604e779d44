package manpage

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// WriteCommands writes a page of section 1 into a directory for a command and each of its
// subcommands that is not hidden. See are further pages that the page of the command names.
func WriteCommands(dir string, h Header, cmd *cobra.Command, see ...string) error {
	path := filepath.Join(dir, pageName(cmd)+".1")
	if err := os.WriteFile(path, commandPage(h, cmd, see), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.Hidden {
			continue
		}
		if err := WriteCommands(dir, h, sub); err != nil {
			return err
		}
	}
	return nil
}

// pageName returns the name of a command's page: its words, joined.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// reference names the page of a command.
func reference(cmd *cobra.Command) string { return bold(pageName(cmd)) + "(1)" }

// commandPage returns the page of a command.
func commandPage(h Header, cmd *cobra.Command, see []string) []byte {
	cmd.InitDefaultHelpFlag()
	p := newPage(h, pageName(cmd), "1", cmd.Short)
	p.section("Synopsis")
	p.text(bold(cmd.CommandPath()) + escape(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())))
	p.section("Description")
	description := cmd.Long
	if description == "" {
		description = cmd.Short + "."
	}
	for block := range strings.SplitSeq(description, "\n\n") {
		if strings.HasPrefix(block, " ") {
			p.literal(block)
		} else {
			p.paragraph(escape(block))
		}
	}
	p.commands(cmd)
	p.flags("Options", cmd.NonInheritedFlags().FlagUsages())
	p.flags("Global options", cmd.InheritedFlags().FlagUsages())
	if cmd.Example != "" {
		p.section("Examples")
		p.literal(strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, reference(cmd.Parent()))
	}
	for _, name := range see {
		page, section, _ := strings.Cut(name, ".")
		others = append(others, bold(page)+"("+section+")")
	}
	if len(others) > 0 {
		p.section("See also")
		p.text(strings.Join(others, ",\n"))
	}
	return p.b.Bytes()
}

// commands lists the subcommands by their groups.
func (p *page) commands(cmd *cobra.Command) {
	began := false
	list := func(group, title string) {
		titled := false
		for _, sub := range cmd.Commands() {
			if sub.Hidden || sub.GroupID != group {
				continue
			}
			if !began {
				p.section("Commands")
				began = true
			}
			if title != "" && !titled {
				p.subsection(strings.TrimSuffix(title, ":"))
				titled = true
			}
			p.term(reference(sub), escape(sub.Short))
		}
	}
	for _, g := range cmd.Groups() {
		list(g.ID, g.Title)
	}
	list("", "")
}

// gap is between a flag and its description in the help.
var gap = regexp.MustCompile(` {3,}`)

// flags lists flags as the help shows them.
func (p *page) flags(title, usages string) {
	if usages == "" {
		return
	}
	p.section(title)
	for line := range strings.Lines(usages) {
		fields := gap.Split(strings.TrimSpace(line), 2)
		p.term(bold(fields[0]), escape(fields[len(fields)-1]))
	}
}
