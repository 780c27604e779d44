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

type listArguments struct {
	Path string `json:"path,omitempty" about:"of the directory; default: the working directory"`
}

// maxListed bounds the entries of a list.
const maxListed = 1000

// listFiles returns the tool that lists a directory.
func (b *Toolbox) listFiles() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "list", Kind: protocol.ToolRead, Parallel: true,
		About: "Lists a directory, without those below it. Directories end with a slash. To find files, use glob.",
	}, func(_ context.Context, _ *llm.ToolCall, in listArguments) (llm.Preview, error) {
		p, err := b.dir.locate(cmp.Or(in.Path, "."))
		if err != nil {
			return llm.Preview{}, err
		}
		return p.reading("List "+p.shown, func(context.Context) (llm.ToolResult, error) { return p.list() }), nil
	})
}

// list returns the names in a directory for the model.
func (p *place) list() (llm.ToolResult, error) {
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
