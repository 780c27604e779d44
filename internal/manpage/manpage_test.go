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

const documentPage = `.TH "TOOL\-FILE" 5 "2026-03-01" "tool 1.0" "agentctl manual"
.nh
.ad l
.SH "NAME"
tool\-file \- A short page
.SH "DESCRIPTION"
Text with \fBstrong\fR, \fIweak\fR and \fBcode\-span\fR words,
\&.and a link (other.md), an anchor and https://example.com.
.SH "ONE"
.IP 1. 4
first
.IP 2. 4
second
.RS 4
.PP
more of it
.RE
.PP
.RS 4
.EX
\&.tool \(aqa\(aq \e
.EE
.RE
.SS "A table"
.TP
\fBa\fR
b
.TP
c
\fItype\fR: text
`

func TestADocumentBecomesAPage(t *testing.T) {
	if got := string(FromMarkdown(header, "tool-file", "5", []byte(source))); got != documentPage {
		t.Errorf("the page is\n%s", got)
	}
}

const commandPageText = `.TH "TOOL\-DO" 1 "2026-03-01" "tool 1.0" "agentctl manual"
.nh
.ad l
.SH "NAME"
tool\-do \- Do something
.SH "SYNOPSIS"
\fBtool do\fR THING [flags]
.SH "DESCRIPTION"
Do it.
.PP
.RS 4
.EX
  an example
.EE
.RE
.SH "COMMANDS"
.TP
\fBtool\-do\-twice\fR(1)
Do it twice
.SH "OPTIONS"
.TP
\fB\-h, \-\-help\fR
help for do
.TP
\fB\-n, \-\-name NAME\fR
NAME of it
.SH "GLOBAL OPTIONS"
.TP
\fB\-\-quiet\fR
print nothing
.SH "EXAMPLES"
.RS 4
.EX
tool do a
tool do b
.EE
.RE
.SH "SEE ALSO"
\fBtool\fR(1)
`

func TestACommandBecomesAPageWithItsHelp(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "A tool"}
	root.PersistentFlags().Bool("quiet", false, "print nothing")
	run := func(*cobra.Command, []string) {}
	do := &cobra.Command{
		Use: "do THING", Short: "Do something", Long: "Do it.\n\n  an example", Run: run,
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
	if err != nil || string(page) != commandPageText {
		t.Errorf("%v; the page is\n%s", err, page)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 3 {
		t.Errorf("%v; the pages are %q", err, files)
	}
	page, err = os.ReadFile(filepath.Join(dir, "tool.1"))
	if err != nil || !strings.HasSuffix(string(page), ".SH \"SEE ALSO\"\n\\fBtool\\-file\\fR(5)\n") {
		t.Errorf("%v; the page of the program is\n%s", err, page)
	}
}
