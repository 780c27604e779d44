package tool

import (
	"context"
	"errors"
	"os"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// editFile is the tool that replaces a text in a file.
type editFile struct{ box *Toolbox }

type editArguments struct {
	Path       string `json:"path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// An editPlan is a checked call of editFile or writeFile.
type editPlan struct {
	set  changeSet
	note string
}

// Spec implements llm.Tool.
func (t *editFile) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "edit", Kind: protocol.ToolEdit,
		About: "Replaces a text in a file. old_string must be in the file exactly once, with its blanks; with " +
			"replace_all it is replaced everywhere. Read the file first.",
		Schema: schema(fields{
			"path": textField("of the file"), "old_string": textField("the text as it is in the file"),
			"new_string": textField("the text instead"), "replace_all": flagField("replace it everywhere"),
		}, "replace_all"),
	}
}

// Preview implements llm.Tool.
func (t *editFile) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[editArguments](c, t)
	if err != nil {
		return llm.Preview{}, err
	}
	p, err := t.box.target(in.Path)
	if err != nil {
		return llm.Preview{}, err
	}
	old, err := p.existing()
	if err != nil {
		return llm.Preview{}, err
	}
	if err := t.box.known.check(&p, &old, false); err != nil {
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
	set := changeSet{{place: p, old: old, new: content{exists: true, bytes: []byte(after), mode: old.mode}}}
	c.Plan = editPlan{set, note}
	return set.preview("Edit " + p.shown), nil
}

// Run implements llm.Tool.
func (t *editFile) Run(_ context.Context, c *llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
	return t.box.runPlan(c)
}

// runPlan applies a checked call.
func (b *Toolbox) runPlan(c *llm.ToolCall) (llm.ToolResult, error) {
	plan, ok := c.Plan.(editPlan)
	if !ok {
		return llm.ToolResult{}, errors.New("the change was not checked")
	}
	r, err := b.change(c.Turn, plan.set)
	r.Text = strings.TrimSpace(r.Text + plan.note)
	return r, err
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
