package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// listFiles is the tool that lists a directory.
type listFiles struct{ box *Toolbox }

type listArguments struct {
	Path string `json:"path"`
}

// maxListed bounds the entries of a list.
const maxListed = 1000

// Spec implements llm.Tool.
func (t *listFiles) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "list", Kind: protocol.ToolRead, Parallel: true,
		About:  "Lists a directory, without those below it. Directories end with a slash. To find files, use glob.",
		Schema: schema(fields{"path": textField("of the directory; default: the working directory")}, "path"),
	}
}

// Preview implements llm.Tool.
func (t *listFiles) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[listArguments](c, t)
	if err != nil {
		return llm.Preview{}, err
	}
	p, err := t.box.dir.locate(cmp.Or(in.Path, "."))
	if err != nil {
		return llm.Preview{}, err
	}
	c.Plan = p
	return p.reading("List " + p.shown), nil
}

// Run implements llm.Tool.
func (t *listFiles) Run(_ context.Context, c *llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
	p, ok := c.Plan.(place)
	if !ok {
		return llm.ToolResult{}, errors.New("the directory was not checked")
	}
	names, more, err := p.entries()
	if err != nil {
		return llm.ToolResult{}, fmt.Errorf("list %s: %w", p.shown, reason(err))
	}
	text := strings.Join(names, "\n")
	switch {
	case more:
		text += fmt.Sprintf("\n[only %d entries]", maxListed)
	case text == "":
		text = "[the directory is empty]"
	}
	return llm.ToolResult{Text: text}, nil
}

// entries returns names in a directory.
func (p *place) entries() (names []string, more bool, err error) {
	root, err := p.open()
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(p.name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	list, err := f.ReadDir(maxListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	for _, e := range list[:min(len(list), maxListed)] {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, len(list) > maxListed, nil
}
