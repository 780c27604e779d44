package describe

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// PathFields are the names of arguments that hold the path of a file.
var PathFields = []string{"file_path", "path", "filename", "file", "target_file"}

// mainFields are the names of the arguments that identify a call, the most telling first.
var mainFields = append([]string{"command", "cmd", "pattern", "query", "url"}, PathFields...)

// maxSummaryField is the maximum number of cells of a field in a summary of arguments.
const maxSummaryField = 60

// ToolTitle is the title of a tool call. Each part is one line, and may be empty.
type ToolTitle struct {
	Name     string // of the tool, unless the title begins with it
	Title    string
	Argument string // what it runs on, unless the title names it
}

// NewToolTitle returns the title of a call by what is known of it.
func NewToolTitle(t *protocol.ToolItem) ToolTitle {
	line := func(s string) string { return transcript.CleanLine(s) }
	name, title := line(t.Name), line(t.Title)
	input := ToolInput(t)
	argument := line(MainArgument(input))
	switch {
	case title == "" || title == name:
		if argument == "" {
			argument = summary(input)
		}
		switch {
		case argument != "":
			return ToolTitle{Name: name, Title: argument}
		case name == "":
			name = strings.TrimSpace("tool " + line(t.Kind))
		}
		return ToolTitle{Title: name}
	case strings.HasPrefix(strings.ToLower(title)+" ", strings.ToLower(name)+" "):
		name = ""
	}
	if len(argument) <= 1 || strings.Contains(title, argument) {
		argument = ""
	}
	return ToolTitle{name, title, argument}
}

// String returns the title as one line.
func (t ToolTitle) String() string {
	parts := []string{t.Name, t.Title, t.Argument}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// ToolInput returns the arguments of a call as JSON, or as the text of arguments that are none. It
// returns nil while JSON arrives in pieces.
func ToolInput(t *protocol.ToolItem) json.RawMessage {
	text := json.RawMessage(t.InputText)
	switch {
	case len(t.Input) > 0:
		return t.Input
	case len(text) == 0 || text[0] != '{' && text[0] != '[':
		return text
	case text[len(text)-1] == '}' || text[len(text)-1] == ']':
		if json.Valid(text) {
			return text
		}
	}
	return nil
}

// MainArgument returns the argument that identifies a call best: a command, pattern, query, URL or
// path.
func MainArgument(input json.RawMessage) string {
	args := map[string]string{}
	Fields(input, func(key, value string) bool {
		args[key] = value
		return true
	})
	for _, name := range mainFields {
		if s := args[name]; s != "" {
			return words(s)
		}
	}
	return ""
}

// words returns a JSON list of strings as words with spaces between them, and other text as it is.
func words(s string) string {
	var list []string
	if s[0] == '[' && json.Unmarshal([]byte(s), &list) == nil {
		return strings.Join(list, " ")
	}
	return s
}

// summary returns the arguments as one line. It cuts long fields. A list of objects, and any other
// list or object that is long, is "…": a summary shows less than the request or the pager.
func summary(input json.RawMessage) string {
	fields, ok := Fields(input, func(key, value string) string {
		first, _, cut := strings.Cut(strings.TrimSpace(transcript.Clean(value)), "\n")
		first = format.JoinLines(first)
		short := ui.Fit(first, maxSummaryField)
		switch nested := strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{"); {
		case strings.HasPrefix(value, "[{") || nested && short != first:
			short = "…"
		case cut && short == first:
			short += " …"
		}
		return transcript.CleanLine(key) + ": " + short
	})
	if !ok {
		return transcript.CleanLine(JSON(input))
	}
	return strings.Join(fields, " ")
}
