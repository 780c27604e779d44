package manpage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var header = Header{Source: "tool 1.0", Date: "2026-03-01"}

const source = "# A `short` page\n" + `
- [One](#one) · [Two](#two)

Text with **strong**, *weak* and ` + "`code-span`" + ` words,
.and [a link](other.md), [an anchor](#one) and <https://example.com>.

## One

1. first
2. second

   more of it

` + "```sh\n.tool 'a' \\\n```\n" + `
### A table

| key | |
|---|---|
| ` + "`a`" + ` | b |

| key | type | meaning |
|---|---|---|
| c | text | |
`

// contains fails the test for each part that a page lacks.
func contains(t *testing.T, page []byte, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(string(page), part) {
			t.Errorf("no %q in the page\n%s", part, page)
		}
	}
}

func TestADocumentBecomesAPage(t *testing.T) {
	page := FromMarkdown(header, "tool-file", "5", []byte(source))
	contains(t, page,
		`.TH "TOOL-FILE" "5" "2026-03-01" "tool 1.0" "agentctl manual"`,
		".SH NAME\ntool\\-file \\- A \\fBshort\\fR page\n", ".SH DESCRIPTION\n",
		`Text with \fBstrong\fP, \fIweak\fP and \fBcode\-span\fR words,`, "\n\\&.and a link", "other.md", ", an anchor and ",
		".SH One\n", "first\n", "more of it\n", ".EX\n\\&.tool 'a'", ".SS A table\n", "\\fBa\\fR\tb\n", "c\ttext\t\n")
	if strings.Contains(string(page), "#one") {
		t.Errorf("the page has a link to a part of it:\n%s", page)
	}
}

func TestACommandBecomesAPageWithItsHelp(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "A tool"}
	root.PersistentFlags().Bool("quiet", false, "print nothing")
	run := func(*cobra.Command, []string) {}
	do := &cobra.Command{
		Use: "do THING", Short: "Do something", Long: "Do <it> with MY_KEY or *.\n\n  an example\n    of more\n\nNow.", Run: run,
		Example: "  tool do a\n  tool do b",
	}
	do.Flags().StringP("name", "n", "", "`NAME` of it")
	do.AddCommand(&cobra.Command{Use: "twice", Short: "Do it twice", Run: run})
	root.AddCommand(do, &cobra.Command{Use: "secret", Hidden: true, Run: run})
	dir := t.TempDir()
	if err := WriteCommands(dir, header, root, "tool-file.5"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "tool-do.1"))
	if err != nil {
		t.Fatal(err)
	}
	contains(t, page,
		`.TH "TOOL-DO" "1" "2026-03-01" "tool 1.0" "agentctl manual"`, ".SH NAME\ntool\\-do \\- Do something\n",
		"\\fBtool do THING [flags]\\fP\n", `Do <it> with MY_KEY or *`, ".EX\n  an example\n    of more\n.EE\n", "Now.\n",
		".TP\n\\fB\\-h\\fP, \\fB\\-\\-help\\fP[=false]\nhelp for do\n.TP\n\\fB\\-n\\fP, \\fB\\-\\-name\\fP=\"\"\n\\fBNAME\\fR of it\n",
		".TP\n\\fB\\-\\-quiet\\fP[=false]\nprint nothing\n", ".EX\n  tool do a\n  tool do b\n.EE\n",
		`\fBtool(1)\fP, \fBtool\-do\-twice(1)\fP`)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 3 {
		t.Errorf("%v; the pages are %q", err, files)
	}
	page, err = os.ReadFile(filepath.Join(dir, "tool.1"))
	if err != nil || !strings.HasSuffix(string(page), ".SH SEE ALSO\n\\fBtool\\-do(1)\\fP, \\fBtool\\-file(5)\\fP\n") {
		t.Errorf("%v; the page of the program is\n%s", err, page)
	}
}
