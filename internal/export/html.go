package export

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
)

const htmlHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%[1]s</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
pre,code{font:14px/1.4 ui-monospace,monospace}pre{background:#f4f4f4;padding:.6rem;overflow:auto}
.text,.message{white-space:pre-wrap}.message{border-left:4px solid #48c;padding-left:.8rem}
.tool,.asked,.note,footer{color:#555}h2{font-size:1rem;margin-top:2.5rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}.tool,.asked,.note,footer{color:#aaa}}
</style></head><body>
<h1>%[1]s</h1>
<p>Session %[2]s, agent %[3]s, started %[4]s.</p>
`

// WriteHTML writes a session as one HTML page without scripts and external resources. All text is
// escaped.
func WriteHTML(w io.Writer, s *protocol.State, t *protocol.Transcript) error {
	title := s.Title
	if title == "" {
		title = output.Session(s)
	}
	fmt.Fprintf(w, htmlHead, safe(title), safe(s.Session), safe(s.Agent), s.Created.UTC().Format(time.DateTime))
	for _, turn := range t.Turns {
		writeTurn(w, output.Session(s), turn)
	}
	_, err := fmt.Fprintln(w, "</body></html>")
	return output.WriteError(err)
}

func writeTurn(w io.Writer, session string, t *protocol.Turn) {
	fmt.Fprintf(w, "<section><h2>%s, %s</h2>\n", safe(output.Actor(t.Message.By)),
		t.Started.UTC().Format(time.DateTime))
	writeElement(w, "div", "message", t.Message.Label())
	for _, it := range t.Items {
		writeItem(w, session, it)
	}
	if t.End != nil {
		writeElement(w, "footer", "", fmt.Sprintf("%s %s, %s", t.End.Reason, t.End.Message,
			format.Seconds(t.End.DurationMS)))
	}
	fmt.Fprintln(w, "</section>")
}

func writeItem(w io.Writer, session string, it *protocol.Item) {
	switch {
	case it.Kind == protocol.ItemText:
		writeElement(w, "div", "text", it.Text.String())
	case it.Steered != nil:
		writeElement(w, "p", "note", output.Actor(it.By)+", "+describe.Steered(it.Steered)+":")
		writeElement(w, "div", "message", it.Steered.Message.Text)
	case it.Kind == protocol.ItemReasoning:
		if len(it.Text) > 0 {
			fmt.Fprintf(w, "<details><summary>Reasoning</summary><div class=\"text\">%s</div></details>\n",
				safe(it.Text.String()))
		}
	case it.Kind == protocol.ItemEvent && it.Type != protocol.TextContent:
		e := protocol.Event{Type: it.Type, Data: it.Data}
		line, ok := e.Line()
		var d protocol.ErrorData
		switch {
		case it.Type == protocol.ErrorRaised && e.Decode(&d) == nil:
			writeElement(w, "p", "note", d.Message)
		case ok && protocol.OutsideOfTurns(it.Type, ""):
			writeElement(w, "p", "note", line.Text)
		}
	default:
		// Tool calls, approvals and files are preformatted Markdown.
		var b strings.Builder
		m := Markdown{W: &b, Session: session}
		m.item(it)
		class := "tool"
		if it.Kind == protocol.ItemApproval {
			class = "asked"
		}
		writeElement(w, "pre", class, strings.TrimSpace(b.String()))
	}
}

func writeElement(w io.Writer, tag, class, text string) {
	fmt.Fprintf(w, "<%s class=\"%s\">%s</%s>\n", tag, class, safe(strings.TrimSpace(text)), tag)
}

// safe returns untrusted text as HTML.
func safe(s string) string { return html.EscapeString(transcript.Clean(s)) }
