package tool

import (
	"context"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/tool/patch"
)

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

type patchArguments struct {
	Patch string `json:"patch" about:"the patch"`
}

// applyPatch returns the tool that applies a patch to several files.
func (b *Toolbox) applyPatch() llm.Tool {
	return llm.NewTool(llm.Tool{Name: ApplyPatch, Kind: protocol.ToolEdit, About: aboutPatch}, b.checkPatch)
}

func (b *Toolbox) checkPatch(_ context.Context, c *llm.ToolCall, in patchArguments) (llm.Preview, error) {
	set, exact, err := b.plan(in.Patch)
	if err != nil {
		return llm.Preview{}, err
	}
	p := set.preview("Change " + set.names())
	if exact { // the patch shows all of it
		p.Content = nil
	}
	p.Request.Patch = strings.ReplaceAll(in.Patch, "\r\n", "\n")
	p.Run = func(context.Context, func(string)) (llm.ToolResult, error) { return b.runPatch(c, set) }
	return p, nil
}

// runPatch applies a checked patch. One that the user edited is applied to the files as they are now.
func (b *Toolbox) runPatch(c *llm.ToolCall, set changeSet) (llm.ToolResult, error) {
	if c.Patch == "" {
		return b.change(c.Turn, set)
	}
	edited, _, err := b.plan(c.Patch)
	if err != nil {
		return llm.ToolResult{}, fmt.Errorf("the edited patch was not applied: %w", err)
	}
	for i := range edited {
		if p := &edited[i].place; (p.outside || p.protected()) && set.find(p) == nil {
			return llm.ToolResult{}, fmt.Errorf("the edited patch was not applied: %s is not in the patch as it "+
				"was sent, and not in the session's directory or a file of git", p.shown)
		}
	}
	return b.change(c.Turn, edited)
}

// plan returns the changes of a patch to the files as they are. exact reports whether the files
// have the lines of the patch as they are in it.
func (b *Toolbox) plan(text string) (set changeSet, exact bool, err error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, false, err
	}
	exact = true
	for i := range files {
		f := &files[i]
		p, err := b.target(f.Path)
		if err != nil {
			return nil, false, err
		}
		if set.find(&p) != nil {
			return nil, false, fmt.Errorf("%s is in the patch twice: join its chunks", p.shown)
		}
		changes, same, err := b.planFile(f, p)
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
func (b *Toolbox) planFile(f *patch.File, p place) (set changeSet, exact bool, err error) {
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
	if f.MoveTo == "" {
		return changeSet{{place: p, old: old, new: old.changed(text)}}, exact, nil
	}
	to, err := b.target(f.MoveTo)
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
