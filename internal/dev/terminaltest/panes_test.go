//go:build terminal

package terminaltest

import (
	"regexp"
	"testing"
)

func TestTwoSessionsLiveSideBySide(t *testing.T) {
	p := newTerminalTest(t, 120, 30)
	p.agentctl("new", "--name", "left", "--agent", "script:session.script")
	p.agentctl("new", "--name", "right", "--agent", "script:session.script")
	p.waitShown("shell$")
	p.typeText("agentctl attach left --mouse\n")
	p.waitShown("● idle")
	p.press("M-w", "v")
	p.waitShown("split: choose the session", "right")
	p.typeText("right")
	p.press("Enter")
	p.waitShown("─ left · idle ─", "─ ▸ right · idle ─")

	// Both follow their sessions; a message goes to the one with the focus.
	p.agentctl("send", "left", "to the left", "--wait")
	p.typeText("from the keyboard")
	p.press("Enter")
	beside := regexp.MustCompile(`You said: to the left *│.*You said: from the keyboard`)
	p.waitFor("both answers", beside.MatchString, nil)
	p.press("M-w", "h")
	p.waitShown("─ ▸ left · idle ─", "─ right · idle ─")
	p.typeText("a draft")
	p.waitFor("draft", regexp.MustCompile(`(?m)^ > a draft *│`).MatchString, nil)

	// The mouse drags the border.
	p.typeText("\x1b[<0;61;9M")
	p.typeText("\x1b[<32;46;9M")
	p.typeText("\x1b[<0;46;9m")
	p.waitFor("border", regexp.MustCompile(`(?m)^.{45}┬─ right`).MatchString, nil)

	// Zoom, and a terminal that is too small for both.
	p.press("M-w", "z")
	p.waitShown("▸ left · idle · 1 of 2 · alt+w z shows all")
	p.press("M-w", "z")
	p.waitShown("─ right · idle ─")
	p.mustTmux("resize-window", "-x", "70", "-y", "20")
	p.waitShown("1 of 2 · alt+w w next")
	p.mustTmux("resize-window", "-x", "120", "-y", "30")
	p.waitShown("─ right · idle ─")

	// Leave, and find both again.
	p.press("C-c", "C-c", "C-c")
	p.waitShown("shell$")
	p.waitHidden("● idle")
	p.waitShown("left 2 sessions, they continue: agentctl attach")
	p.typeText("clear; agentctl attach\n")
	p.waitShown("─ ▸ left · idle ─", "─ right · idle ─", "You said: from the keyboard")
	p.waitFor("border", regexp.MustCompile(`(?m)^.{45}┬─ right`).MatchString, nil)
}
