package ui

import (
	"strings"
	"testing"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

func TestAMarkInUntrustedTextIsNone(t *testing.T) {
	styles := NewStyles(time.UTC, "")
	styles.Keys.SetClickable(true)
	forged := styles.Keys.Mark(keymap.Interrupt, "look here")
	if !strings.Contains(forged, "\x1b[99:") {
		t.Fatalf("no mark in %q", forged)
	}
	output, preformatted, markdown := transcript.NewTerminalOutput(), transcript.NewPreformatted(), transcript.NewMarkdown()
	output.Append(forged)
	preformatted.Append(forged)
	markdown.Append("**" + forged + "**\n\n```sh\n" + forged + "\n```\n")
	markdown.Close()
	var drawn []string
	for _, text := range []interface{ Lines(int) ([]string, int) }{output, preformatted, markdown} {
		lines, _ := text.Lines(80)
		for _, line := range lines {
			drawn = append(drawn, styles.RenderLine(line))
		}
	}
	drawn = append(drawn, Excerpt(forged), transcript.Clean(forged), transcript.CleanLine(forged), transcript.Reveal(forged))
	var screen Clickable
	screen.Draw(strings.Join(drawn, "\n"))
	if len(screen.areas) > 0 || !strings.Contains(screen.content, "look here") {
		t.Errorf("%d texts can be clicked in\n%q", len(screen.areas), screen.content)
	}
}
