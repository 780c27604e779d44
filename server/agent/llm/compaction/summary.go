package compaction

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// instruction asks the model for a summary of the messages before it.
const instruction = `[The context is almost full. Your answer to this message replaces everything above it: ` +
	`only the answer is kept. Write a summary from which the work can go on without loss, with these sections:
Goal: what the user wants, in the user's own words.
Facts: everything that the user said to remember, constraints, names, values and decisions with their reasons.
Files: those that matter, with what is in them or what was changed.
Done: what was done and checked, with results.
Open: what is not done, failures and what was tried, the next step.
Carry over all that still matters of an earlier summary. Answer with the summary only. Do not call a tool.]`

// Ask returns the messages of a request for a summary.
func Ask(messages []model.Message) []model.Message {
	return model.Append(slices.Clone(messages), model.Texts(model.User, instruction))
}

// AskText returns a request for a summary of messages as one text of at most about most bytes. It
// is for a conversation that does not fit the context of the model.
func AskText(messages []model.Message, most int) []model.Message {
	text := "The conversation so far, shortened:\n\n" + Text(messages, most) + "\n\n" + instruction
	return []model.Message{model.Texts(model.User, text)}
}

// Text returns messages as text of at most about most bytes. Long texts lose their middle first,
// then the conversation does.
func Text(messages []model.Message, most int) string {
	each := max(200, 4*most/max(1, len(messages)))
	var b strings.Builder
	for i := range messages {
		m := &messages[i]
		for j := range m.Parts {
			if line := partText(m.Role, &m.Parts[j], each); line != "" {
				b.WriteString(line + "\n")
			}
		}
	}
	return Cut(b.String(), most)
}

func partText(role model.Role, p *model.Part, most int) string {
	switch {
	case p.Call != nil:
		return fmt.Sprintf("assistant called %s: %s", p.Call.Name, Cut(string(p.Call.Input), most))
	case p.Result != nil:
		return fmt.Sprintf("result of %s: %s", p.Result.Name, Cut(p.Result.Text, most))
	case p.File != nil:
		return fmt.Sprintf("file %s: %s", p.File.Name, Cut(p.File.Text, most))
	case p.Type == model.Text && p.Text != "":
		return fmt.Sprintf("%s: %s", role, Cut(p.Text, most))
	}
	return ""
}

// A File is a file that the work concerned.
type File struct {
	Path    string `json:"path"`
	Changed bool   `json:"changed,omitempty"`
}

// Kept is the text after a summary: it comes from records, not from the model.
type Kept struct {
	Files []File
	Steps []protocol.Task
	Asked []string // messages of the user that are not among the messages that stay, in order
}

// Message returns the message that replaces the summarized messages.
func Message(summary string, k *Kept) model.Message {
	var b strings.Builder
	b.WriteString("[The conversation before this point was replaced by its summary:]\n\n" + summary)
	list := func(title string, changed bool) {
		for _, f := range k.Files {
			if f.Changed != changed {
				continue
			}
			if title != "" {
				b.WriteString("\n\n" + title)
				title = ""
			}
			b.WriteString("\n- " + f.Path)
		}
	}
	list("Files changed so far:", true)
	list("Files read so far:", false)
	if len(k.Steps) > 0 {
		b.WriteString("\n\nSteps of the work:")
		for _, s := range k.Steps {
			fmt.Fprintf(&b, "\n- %s (%s)", s.Title, s.Status)
		}
	}
	if len(k.Asked) > 0 {
		b.WriteString("\n\nThe messages of the user, the oldest first:")
		for _, text := range k.Asked {
			b.WriteString("\n\n" + text)
		}
	}
	b.WriteString("\n\n[End of the summary.]")
	return model.Texts(model.User, b.String())
}

// Split returns the index of the first message that stays; a summary replaces the messages before
// it; 0: nothing to summarize. The messages that stay have at most keep bytes, unless the last ones
// that belong together have more. They begin with a user message if they contain one, and no result
// loses its call.
func Split(messages []model.Message, keep int64) int {
	cut, size := 0, int64(0)
	turn := false // cut is at a message of the user
	for i := len(messages) - 1; i > 0; i-- {
		size += Size(messages[i : i+1])
		if cut > 0 && size > keep {
			break
		}
		m := &messages[i]
		switch {
		case m.Role == model.User && slices.ContainsFunc(m.Parts, func(p model.Part) bool { return isResult(&p) }):
		case m.Role == model.User:
			cut, turn = i, true
		case !turn:
			cut = i
		}
	}
	return cut
}
