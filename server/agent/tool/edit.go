package tool

import (
	"context"
	"errors"
	"os"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

type editArguments struct {
	Path       string `json:"path" about:"of the file"`
	OldString  string `json:"old_string" about:"the text as it is in the file"`
	NewString  string `json:"new_string" about:"the text instead"`
	ReplaceAll bool   `json:"replace_all,omitempty" about:"replace it everywhere"`
}

// editFile returns the tool that replaces a text in a file.
func (b *Toolbox) editFile() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "edit", Kind: protocol.ToolEdit,
		About: "Replaces a text in a file. old_string must be in the file exactly once, with its blanks; with " +
			"replace_all it is replaced everywhere. Read the file first.",
	}, b.checkEdit)
}

func (b *Toolbox) checkEdit(_ context.Context, c *llm.ToolCall, in editArguments) (llm.Preview, error) {
	p, err := b.target(in.Path)
	if err != nil {
		return llm.Preview{}, err
	}
	old, err := p.existing()
	if err != nil {
		return llm.Preview{}, err
	}
	if err := b.known.check(&p, &old, false); err != nil {
		return llm.Preview{}, err
	}
	before, err := old.text(&p)
	if err != nil {
		return llm.Preview{}, err
	}
	after, note, err := replace(before, in.OldString, in.NewString, in.ReplaceAll)
	if err != nil {
		return llm.Preview{}, err
	}
	return b.changing("Edit ", c, change{place: p, old: old, new: old.changed(after)}, note), nil
}

// changing returns the preview of a call that changes one file. note follows its result.
func (b *Toolbox) changing(verb string, c *llm.ToolCall, of change, note string) llm.Preview {
	set := changeSet{of}
	p := set.preview(verb + of.place.shown)
	p.Run = func(context.Context, func(string)) (llm.ToolResult, error) {
		r, err := b.change(c.Turn, set)
		r.Text = strings.TrimSpace(r.Text + note)
		return r, err
	}
	return p
}

// change applies a set, with a record for the turn, and returns the result for the model and the
// clients.
func (b *Toolbox) change(turn string, set changeSet) (llm.ToolResult, error) {
	if err := b.applyRecorded(turn, set); err != nil {
		return llm.ToolResult{}, err
	}
	r := llm.ToolResult{Text: "Done:\n" + set.summary()}
	for i := range set {
		r.Seen = append(r.Seen, b.known.write(&set[i].place, &set[i].new))
		r.Content = append(r.Content, set[i].diff())
	}
	return r, nil
}

// applyRecorded applies a set, or changes nothing and returns why. A server that is killed between
// leaves a record from which the next toolbox puts the files back.
func (b *Toolbox) applyRecorded(turn string, set changeSet) error {
	token := newToken()
	path, err := b.journal.begin(turn, token, set)
	if err != nil {
		return err
	}
	if err := set.apply(token, b.files); err != nil {
		if path != "" && !errors.Is(err, errRestore) {
			_ = os.Remove(path)
		}
		return err
	}
	return b.journal.complete(path)
}
