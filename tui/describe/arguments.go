package describe

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/internal/safetext"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxArgumentsLine is the length up to which arguments are one line, in bytes.
const maxArgumentsLine = 60

// ArgumentsNote returns a note about arguments. opaque is the reason why they can be read in
// different ways, or "".
func ArgumentsNote(opaque string) string { return ui.Prefixed("as sent: ", opaque) }

// ArgumentsText returns arguments as JSON, in lines if they are long.
func ArgumentsText(arguments string) string {
	if len(arguments) > maxArgumentsLine {
		if indented, ok := IndentJSON(arguments); ok {
			return indented
		}
	}
	return arguments
}

// LastLines returns a command with the line breaks at its end as symbols. They would not be seen.
func LastLines(command string) string {
	trimmed := strings.TrimRight(command, "\n")
	return trimmed + strings.Repeat("⏎", len(command)-len(trimmed))
}

// Paths returns the files that a request names, except those that its diffs alone name. Files in
// its working directory are relative to it.
func Paths(a *protocol.Approval) []string {
	paths := slices.Clone(a.Paths)
	if a.Kind == protocol.ApprovePatch {
		without := *a
		without.Content = nil
		paths, _ = without.Files()
	}
	for i, path := range paths {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(a.CWD, "/")+"/"); ok && a.CWD != "" && rest != "" {
			paths[i] = rest
		}
	}
	return paths
}

// Line returns a text that a user decides on as one line of at most limit runes. Line breaks, tabs,
// controls, and characters that are drawn as nothing or as a space are shown as symbols or codes, and
// the number of characters left out is shown. A limit of 0 means no limit.
func Line(text string, limit int) string {
	text = strings.NewReplacer("\n", "⏎", "\t", "␉").Replace(transcript.Reveal(text))
	if strings.IndexFunc(text, safetext.IsBlank) >= 0 {
		var out strings.Builder
		for _, r := range text {
			if safetext.IsBlank(r) {
				fmt.Fprintf(&out, "‹U+%04X›", r)
			} else {
				out.WriteRune(r)
			}
		}
		text = out.String()
	}
	if n := utf8.RuneCountInString(text); limit > 0 && n > limit {
		return fmt.Sprintf("%s… (%d more characters)", string([]rune(text)[:limit]), n-limit)
	}
	return text
}

// Action returns what a request asks for as one line, see Line. A command has its directory. The
// title is the agent's own and comes last.
func Action(a *protocol.Approval, limit int) string {
	action := a.Action()
	if a.Kind == protocol.ApproveCommand && a.CWD != "" && action != "" {
		return Line(action, limit) + " · in " + Line(a.CWD, limit)
	}
	switch {
	case action == "":
		return Line(a.Title, limit)
	case a.Title == "" || a.Command != "":
		return Line(action, limit)
	}
	return Line(action, limit) + " · " + Line(a.Title, limit)
}
