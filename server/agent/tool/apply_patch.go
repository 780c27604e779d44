package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/tool/patch"
)

// applyPatch is the tool that applies a patch to several files.
type applyPatch struct{ box *Toolbox }

// ApplyPatch is the name of the tool that applies patches.
const ApplyPatch = "apply_patch"

const aboutPatch = `Changes files with a patch. All files are changed, or none. The format:
*** Begin Patch
*** Add File: path/new.txt
+a line of the new file
*** Update File: path/old.txt
*** Move to: path/renamed.txt
@@ a line before the change, such as the head of its function
 a line that stays
-a line that goes
+a line that comes
*** Delete File: path/gone.txt
*** End Patch
"*** Move to:" is optional. Give about three lines that stay before and after a change. "*** End of File" after the
lines of a change anchors it at the end of the file. Paths are relative to the working directory.`

// Spec implements llm.Tool.
func (t *applyPatch) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: ApplyPatch, Kind: protocol.ToolEdit, About: aboutPatch,
		Schema: schema(fields{"patch": textField("the patch")}),
	}
}

// Preview implements llm.Tool.
func (t *applyPatch) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[struct {
		Patch string `json:"patch"`
	}](c, t)
	if err != nil {
		return llm.Preview{}, err
	}
	set, exact, err := t.plan(in.Patch)
	if err != nil {
		return llm.Preview{}, err
	}
	c.Plan = set
	p := set.preview("Change " + set.names())
	if exact { // the patch shows all of it
		p.Content = nil
	}
	p.Request.Patch = in.Patch
	if strings.ContainsFunc(in.Patch, func(r rune) bool { return r == '\r' }) {
		p.Request.Patch = strings.ReplaceAll(in.Patch, "\r\n", "\n")
	}
	return p, nil
}

// Run implements llm.Tool. A patch that the user edited is applied to the files as they are now.
func (t *applyPatch) Run(_ context.Context, c *llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
	set, ok := c.Plan.(changeSet)
	if !ok {
		return llm.ToolResult{}, errors.New("the patch was not checked")
	}
	if c.Patch != "" {
		edited, _, err := t.plan(c.Patch)
		if err != nil {
			return llm.ToolResult{}, fmt.Errorf("the edited patch was not applied: %w", err)
		}
		for i := range edited {
			if p := &edited[i].place; (p.outside || p.protected()) && set.find(p) == nil {
				return llm.ToolResult{}, fmt.Errorf("the edited patch was not applied: %s is not in the patch as it "+
					"was sent, and not in the session's directory or a file of git", p.shown)
			}
		}
		set = edited
	}
	return t.box.change(c.Turn, set)
}

// plan returns the changes of a patch to the files as they are. exact reports whether the files
// have the lines of the patch as they are in it.
func (t *applyPatch) plan(text string) (set changeSet, exact bool, err error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, false, err
	}
	exact = true
	for i := range files {
		f := &files[i]
		p, err := t.box.target(f.Path)
		if err != nil {
			return nil, false, err
		}
		if set.find(&p) != nil {
			return nil, false, fmt.Errorf("%s is in the patch twice: join its chunks", p.shown)
		}
		changes, same, err := t.planFile(f, p)
		if err != nil {
			return nil, false, err
		}
		for _, c := range changes[1:] {
			if set.find(&c.place) != nil {
				return nil, false, fmt.Errorf("%s is in the patch twice", c.place.shown)
			}
		}
		set, exact = append(set, changes...), exact && same
	}
	return set, exact, nil
}

// planFile returns the changes of one file of a patch: two if it is moved.
func (t *applyPatch) planFile(f *patch.File, p place) (set changeSet, exact bool, err error) {
	if f.Operation == patch.Add {
		set, err := newFile(p, f.Text)
		return set, true, err
	}
	old, err := p.existing()
	if err != nil {
		return nil, false, err
	}
	if f.Operation == patch.Delete {
		return changeSet{{place: p, old: old}}, true, nil
	}
	before, err := old.text(&p)
	if err != nil {
		return nil, false, err
	}
	text, exact, err := f.Apply(before)
	if err != nil {
		return nil, false, err
	}
	updated := content{exists: true, bytes: []byte(text), mode: old.mode}
	if f.MoveTo == "" {
		return changeSet{{place: p, old: old, new: updated}}, exact, nil
	}
	to, err := t.box.target(f.MoveTo)
	if err != nil {
		return nil, false, err
	}
	moved, err := newFile(to, text)
	if err != nil {
		return nil, false, err
	}
	moved[0].new.mode = old.mode
	return changeSet{{place: p, old: old}, moved[0]}, exact, nil
}

// newFile returns the change that creates a file.
func newFile(p place, text string) (changeSet, error) {
	old, err := p.read()
	switch {
	case err != nil:
		return nil, err
	case old.exists:
		return nil, fmt.Errorf("%s exists already: update it, or delete it first in a separate patch", p.shown)
	}
	return changeSet{{place: p, new: content{exists: true, bytes: []byte(text)}}}, nil
}

// names lists the files of a set for people.
func (s changeSet) names() string {
	const most = 3
	var names []string
	for i := range s[:min(len(s), most)] {
		names = append(names, s[i].place.shown)
	}
	if more := len(s) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
