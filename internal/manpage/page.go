package manpage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// A Header holds the fields that all pages of a release share.
type Header struct {
	Source string // the program and its version
	Date   string // of the release, as in 2026-03-01
}

const manual = "agentctl manual"

// WriteCommands writes a page of section 1 into a directory for a command and each of its visible
// subcommands. see lists further pages that the command's page names. It changes the help of the
// commands to Markdown.
func WriteCommands(dir string, h Header, cmd *cobra.Command, see ...string) error {
	cmd.DisableAutoGenTag = true // no History after See also
	helpToMarkdown(cmd)
	date, err := time.Parse(time.DateOnly, h.Date)
	if err != nil {
		return err
	}
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: h.Source, Manual: manual}
	if err := doc.GenManTree(cmd, header, dir); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page = bytes.Replace(page, []byte(date.Format("Jan 2006")), []byte(h.Date), 1)
		page = flag.ReplaceAll(page, []byte(".TP\n$1\n$2\n"))
		if filepath.Base(path) == cmd.Name()+".1" {
			page = bytes.TrimRight(page, "\n")
			for _, name := range see {
				name, section, _ := strings.Cut(name, ".")
				page = fmt.Appendf(page, ", \\fB%s(%s)\\fP", name, section)
			}
			page = append(page, '\n')
		}
		if err := os.WriteFile(path, escapeDashes(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// helpToMarkdown makes the help of a command and of its subcommands Markdown of the same text:
// indented blocks are literal, and no character is a mark.
func helpToMarkdown(cmd *cobra.Command) {
	blocks := strings.Split(cmd.Long, "\n\n")
	for i, block := range blocks {
		if strings.TrimLeft(block, " \t") != block {
			blocks[i] = "    " + strings.ReplaceAll(block, "\n", "\n    ")
		} else {
			blocks[i] = marks.Replace(block)
		}
	}
	cmd.Long = strings.Join(blocks, "\n\n")
	for _, sub := range cmd.Commands() {
		helpToMarkdown(sub)
	}
}

var marks = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "#", `\#`)

// flag matches a flag and its explanation, which cobra separates by a tab; man pages have a tag for
// that.
var flag = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*)\n\t(.*)\n\n?`)

// FromMarkdown returns the page of a document in Markdown. The first heading is its description.
func FromMarkdown(h Header, name, section string, source []byte) []byte {
	title, text, _ := bytes.Cut(bytes.TrimPrefix(source, []byte("# ")), []byte("\n"))
	page := fmt.Appendf(nil, "%% %q %q %q %q %q\n# NAME\n%s - %s\n\n# DESCRIPTION\n", strings.ToUpper(name), section,
		h.Date, h.Source, manual, name, title)
	return escapeDashes(md2man.Render(append(page, anchor.ReplaceAll(text, []byte("$1"))...)))
}

// anchor matches a link to a part of the same document, which a man page cannot follow.
var anchor = regexp.MustCompile(`\[([^\]]*)\]\(#[^)]*\)`)

// escapeDashes makes each dash of the text a minus sign, so that commands can be copied.
func escapeDashes(page []byte) []byte {
	lines := strings.Split(string(page), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, ".") {
			lines[i] = strings.ReplaceAll(strings.ReplaceAll(line, `\-`, "-"), "-", `\-`)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}
