package pipeline

import "strings"

// An answer collects the text of a turn. Its result is the text after the last tool call.
type answer struct {
	last   strings.Builder
	part   string
	before string
	cuts   []string // parts that a call of a tool followed
}

func (a *answer) add(part, text string) {
	if a.last.Len()+len(text) > maxAnswer {
		return
	}
	if part != a.part && a.last.Len() > 0 {
		a.last.WriteString("\n\n")
	}
	a.part = part
	a.last.WriteString(text)
}

// cut notes a call of a tool.
func (a *answer) cut() {
	if text := strings.TrimSpace(a.last.String()); text != "" {
		a.before = text
		a.cuts = append(a.cuts, a.part)
		a.last = strings.Builder{}
	}
}

func (a *answer) text() string {
	if text := strings.TrimSpace(a.last.String()); text != "" {
		return text
	}
	return a.before
}
