package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

type writeArguments struct {
	Path    string `json:"path" about:"of the file"`
	Content string `json:"content" about:"all of the file"`
}

// writeFile returns the tool that writes a whole file.
func (b *Toolbox) writeFile() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "write", Kind: protocol.ToolEdit,
		About: "Writes a whole file, and creates its directories. Read a file that exists first. To change a part " +
			"of a file, use edit or apply_patch.",
	}, b.checkWrite)
}

func (b *Toolbox) checkWrite(_ context.Context, c *llm.ToolCall, in writeArguments) (llm.Preview, error) {
	p, err := b.target(in.Path)
	if err != nil {
		return llm.Preview{}, err
	}
	old, err := p.read()
	if err != nil {
		return llm.Preview{}, err
	}
	if err := b.known.check(&p, &old, true); err != nil {
		return llm.Preview{}, err
	}
	return b.changing("Write ", c, change{place: p, old: old, new: old.changed(in.Content)}, ""), nil
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
