package main

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
)

// An outcome is the end of a turn in JSON: the last line of a verb that waited for it.
type outcome struct {
	Type       string          `json:"type"` // "outcome"
	Session    string          `json:"session"`
	MessageID  string          `json:"message_id,omitempty"`
	Turn       string          `json:"turn,omitempty"`
	Reason     protocol.Reason `json:"reason"`
	Code       protocol.Code   `json:"code,omitempty"`
	Message    string          `json:"message,omitempty"` // why it did not complete, for people
	Text       string          `json:"text"`              // of the answer
	Usage      *protocol.Usage `json:"usage,omitempty"`
	Cost       float64         `json:"cost,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	Files      []changedFile   `json:"files,omitempty"`
}

// A changedFile is a file that tool calls of a turn changed, as far as they told how.
type changedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
}

// newOutcome returns the outcome of a turn from its transcript, which may be empty: the log was
// replaced.
func newOutcome(t *protocol.Transcript, end *protocol.TurnEndedData) outcome {
	o := outcome{
		Type: "outcome", Reason: end.Reason, Code: end.Code, Message: end.Message, Usage: end.Usage,
		DurationMS: end.DurationMS,
	}
	if end.Usage != nil {
		o.Cost = end.Usage.Cost
	}
	if turn := t.Current(); turn != nil {
		o.Turn, o.MessageID = turn.Turn, turn.Message.MessageID
		o.Text, o.Files = answerOf(turn.Items), filesOf(turn.Items)
	}
	return o
}

// answerOf joins the texts of the agent, without those of its tasks and sub-agents.
func answerOf(items []*protocol.Item) string {
	var parts []string
	for _, it := range items {
		if it.Kind == protocol.ItemText && it.Task == "" && it.Parent == "" && len(it.Text) > 0 {
			parts = append(parts, it.Text.String())
		}
	}
	return strings.Join(parts, "\n")
}

// filesOf returns the files that completed tool calls changed, by path.
func filesOf(items []*protocol.Item) []changedFile {
	byPath := map[string]*changedFile{}
	for _, it := range items {
		t := it.Tool
		if t == nil || t.End == nil || t.End.Status != protocol.ToolCompleted {
			continue
		}
		files := filechange.FromContent(t.Content, transcript.Clean)
		if len(files) == 0 {
			files = filechange.FromArguments(t.Kind, t.Input, transcript.Clean)
		}
		for i := range files {
			add(byPath, &files[i])
		}
	}
	var out []changedFile
	for _, f := range byPath {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b changedFile) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func add(byPath map[string]*changedFile, f *diff.File) {
	path := f.Path()
	if byPath[path] == nil {
		byPath[path] = &changedFile{Path: path}
	}
	added, removed := f.Stat()
	byPath[path].Added += added
	byPath[path].Removed += removed
}
