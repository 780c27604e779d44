package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// writeFile is the tool that writes a whole file.
type writeFile struct{ box *Toolbox }

type writeArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Spec implements llm.Tool.
func (t *writeFile) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "write", Kind: protocol.ToolEdit,
		About: "Writes a whole file, and creates its directories. Read a file that exists first. To change a part " +
			"of a file, use edit or apply_patch.",
		Schema: schema(fields{"path": textField("of the file"), "content": textField("all of the file")}),
	}
}

// Preview implements llm.Tool.
func (t *writeFile) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[writeArguments](c, t)
	if err != nil {
		return llm.Preview{}, err
	}
	p, err := t.box.target(in.Path)
	if err != nil {
		return llm.Preview{}, err
	}
	old, err := p.read()
	if err != nil {
		return llm.Preview{}, err
	}
	if err := t.box.known.check(&p, &old, true); err != nil {
		return llm.Preview{}, err
	}
	set := changeSet{{place: p, old: old, new: content{exists: true, bytes: []byte(in.Content), mode: old.mode}}}
	c.Plan = editPlan{set: set}
	return set.preview("Write " + p.shown), nil
}

// Run implements llm.Tool.
func (t *writeFile) Run(_ context.Context, c *llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
	return t.box.runPlan(c)
}

// target returns the place of a file to be changed. A link is refused: the target has its own name.
func (b *Toolbox) target(path string) (place, error) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(b.dir.path, filepath.FromSlash(full))
	}
	if info, err := os.Lstat(full); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return place{}, fmt.Errorf("%s is a symbolic link: name the file that it leads to", path)
	}
	p, err := b.dir.locate(path)
	if err != nil {
		return place{}, err
	}
	return p, b.dir.box.May(p.real, true)
}
