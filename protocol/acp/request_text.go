package acp

import (
	"fmt"
	"strings"
	"unicode"

	"agentctl/internal/safetext"
	"agentctl/protocol"
)

// visible returns a text with its invisible characters as codes, so that none hides or reorders
// shown text.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case r != ' ' && (!unicode.IsGraphic(r) || safetext.IsInvisible(r) || safetext.IsBlank(r)):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visibleLine returns a text as one line without invisible characters.
func visibleLine(text string) string { return strings.ReplaceAll(visible(text), "\n", "␊") }

// fenced returns a text as a code block of Markdown, which clients draw as it is.
func fenced(text string) string {
	fence := strings.Repeat("`", max(longestRun(text)+1, 3))
	return fence + "text\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// codeSpan returns a line as code in Markdown.
func codeSpan(line string) string {
	fence := strings.Repeat("`", longestRun(line)+1)
	if strings.HasPrefix(line, "`") || strings.HasSuffix(line, "`") {
		line = " " + line + " "
	}
	return fence + line + fence
}

// longestRun returns the number of backticks in the longest run of them.
func longestRun(text string) (longest int) {
	n := 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// maxTitle bounds the title of a request, in characters. Its text has all of it.
const maxTitle = 120

// requestTitle returns agentctl's title of a request: what it does, with the command, the files or
// the tool.
func requestTitle(a *protocol.Approval) string {
	what := func(words, text string) string {
		line := []rune(visibleLine(text))
		if len(line) > maxTitle {
			line = append(line[:maxTitle-1], '…')
		}
		return words + " " + codeSpan(string(line))
	}
	rest, _ := a.RestArguments()
	more := ""
	if rest != "" {
		more = " with other arguments"
	}
	files, _ := a.Files()
	switch {
	case a.Kind == protocol.ApprovePlan:
		return "Carry out the plan"
	case a.Kind == protocol.ApproveQuestion:
		return "Answer a question"
	case a.Kind == protocol.ApprovePatch && len(files) > 0:
		return what("Change", strings.Join(files, ", "))
	case a.Command != "":
		return what("Run", a.Command) + more
	case a.Name != "":
		return what("Use the tool", a.Name)
	case a.Kind == protocol.ApproveCommand:
		return "Run a command"
	}
	return "Use a tool"
}

// requestKind returns the kind of tool call that shows a request.
func requestKind(a *protocol.Approval) string {
	switch a.Kind {
	case protocol.ApproveCommand:
		return protocol.ToolExecute
	case protocol.ApprovePatch:
		return protocol.ToolEdit
	}
	return protocol.ToolOther
}

// requestText returns a whole request as text: agentctl's labels at the begin of lines, and the
// agent's texts indented, so that none looks like another.
func requestText(a *protocol.Approval) string {
	var b strings.Builder
	add := func(label, text string) {
		if text == "" {
			return
		}
		b.WriteString(label + ":\n")
		for line := range strings.SplitSeq(visible(text), "\n") {
			b.WriteString("    " + line + "\n")
		}
	}
	if a.SubAgent != nil {
		add("asked by the sub-agent", a.SubAgent.Title)
	}
	if a.AskedBy != nil {
		add("asked by the agent", a.AskedBy.Name)
	}
	add("refused by the sandbox", a.Refused)
	add("command", a.Command)
	for _, setting := range a.CommandSettings() {
		add("with", setting)
	}
	add("in the directory", a.CWD)
	if a.Page != nil {
		add("page", string(protocol.MustEncode(a.Page)))
	}
	add("tool", a.Name)
	rest, opaque := a.RestArguments()
	if a.Kind == protocol.ApproveQuestion || a.Kind == protocol.ApprovePlan {
		rest = string(a.Input)
	}
	add("arguments", rest)
	add("the arguments can be read in two ways", opaque)
	add("patch", a.Patch)
	for i := range a.Content {
		addContent(&a.Content[i], add)
	}
	for _, path := range a.Paths {
		add("file", path)
	}
	for i := range a.Tasks {
		t := &a.Tasks[i]
		add("task", t.Title+"\n"+t.Description+"\nafter "+strings.Join(t.After, ", "))
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		add("question", q.Prompt())
		for _, choice := range q.Choices {
			add("answer", choice.Label+"\n"+choice.About)
		}
	}
	add("the agent's title", a.Title)
	add("the agent's reason", a.Why)
	for _, text := range a.Explained {
		add("the agent explains", text)
	}
	return b.String()
}

// addContent adds a piece of the content of a request.
func addContent(c *protocol.Content, add func(label, text string)) {
	if c.Type != "diff" {
		add(c.Label(), c.Text+string(c.Data))
		return
	}
	if c.Old == nil {
		add("new file", c.Path)
	} else {
		add("change of the file", c.Path)
		add("these lines", *c.Old)
	}
	add("become", c.New)
	if c.New == "" {
		add("become", "(nothing)")
	}
}
