package tool

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/model"
)

type readArguments struct {
	Path   string `json:"path" about:"of the file"`
	Offset int    `json:"offset,omitempty" about:"number of the first line"`
	Limit  int    `json:"limit,omitempty" about:"number of lines"`
}

// Limits of a result.
const (
	readLines = 2000
	lineBytes = 2000
	readBytes = 100 << 10
)

// readFile returns the tool that reads a file, or the output of a command that was cut.
func (b *Toolbox) readFile() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "read", Kind: protocol.ToolRead, Parallel: true,
		About: fmt.Sprintf("Reads a text file or an image, by its path or file:// URL. A text has line numbers "+
			"before its lines, which are not part of it. At most %d lines are returned: use offset and limit for "+
			"others. Reads %sN too, the whole output of a command that was cut.", readLines, outputScheme),
	}, b.checkRead)
}

func (b *Toolbox) checkRead(_ context.Context, c *llm.ToolCall, in readArguments) (llm.Preview, error) {
	if strings.HasPrefix(in.Path, outputScheme) {
		return llm.Preview{
			Title: "Read " + in.Path, Safe: true,
			Run: func(context.Context, func(string)) (llm.ToolResult, error) {
				text, err := b.outputs.read(in.Path)
				if err == nil {
					text, _, _ = numbered(text, in.Offset, in.Limit)
				}
				return llm.ToolResult{Text: text}, err
			},
		}, nil
	}
	if strings.HasPrefix(in.Path, "file:") { // as attachments are named
		var err error
		if in.Path, err = filePath(in.Path); err != nil {
			return llm.Preview{}, err
		}
		c.Input = protocol.MustEncode(in) // rules judge the path
	}
	p, err := b.dir.locate(in.Path)
	if err != nil {
		return llm.Preview{}, err
	}
	preview := p.reading("Read "+p.shown, func(context.Context) (llm.ToolResult, error) {
		return b.read(&p, in.Offset, in.Limit)
	})
	preview.Locations[0].Line = in.Offset
	return preview, nil
}

// filePath returns the path in a file:// URL.
func filePath(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") {
		return "", fmt.Errorf("%.200q names no file of this machine", text)
	}
	path := filepath.FromSlash(u.Path)
	if drive := strings.TrimPrefix(path, `\`); filepath.VolumeName(drive) != "" { // of Windows: /C:/…
		path = drive
	}
	return path, nil
}

// reading returns the preview of a call that reads a place, and runs it.
func (p *place) reading(title string, run func(context.Context) (llm.ToolResult, error)) llm.Preview {
	preview := llm.Preview{
		Title: title, Safe: !p.outside, Contained: !p.outside,
		Locations: []protocol.Location{{Path: p.real}},
		Request:   protocol.Approval{Kind: protocol.ApproveTool},
		Run:       func(ctx context.Context, _ func(string)) (llm.ToolResult, error) { return run(ctx) },
	}
	if p.outside {
		preview.Request.Why = "outside of the session's directory: " + p.shown
	}
	return preview
}

// read returns an image, or lines of a text.
func (b *Toolbox) read(p *place, offset, limit int) (llm.ToolResult, error) {
	f, err := p.existing()
	if err != nil {
		return llm.ToolResult{}, err
	}
	if media := http.DetectContentType(f.bytes); slices.Contains(model.ImageTypes, media) {
		return llm.ToolResult{
			Text:  fmt.Sprintf("%s, %d bytes", media, len(f.bytes)),
			Files: []model.File{{Name: path.Base(p.shown), MediaType: media, Data: f.bytes}},
			Seen:  []llm.SeenFile{b.known.read(p, &f, 1, f.lines())},
		}, nil
	}
	text, err := f.text(p)
	if err != nil {
		return llm.ToolResult{}, err
	}
	text, first, last := numbered(text, offset, limit)
	return llm.ToolResult{Text: text, Seen: []llm.SeenFile{b.known.read(p, &f, first, last)}}, nil
}

// numbered returns lines of a text with their numbers, and a note about what it left out. first and last are
// the numbers of the lines.
func numbered(text string, offset, limit int) (out string, first, last int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return "[the file is empty]", 1, 0
	}
	first = max(offset, 1)
	if first > len(lines) {
		return fmt.Sprintf("[the file has %d lines]", len(lines)), first, first - 1
	}
	if limit <= 0 || limit > readLines {
		limit = readLines
	}
	var b strings.Builder
	last = first - 1
	for last < len(lines) && last-first+1 < limit && b.Len() < readBytes {
		fmt.Fprintf(&b, "%6d\t%s\n", last+1, cutLine(strings.TrimSuffix(lines[last], "\r"), lineBytes))
		last++
	}
	if last < len(lines) || first > 1 {
		fmt.Fprintf(&b, "[lines %d to %d of %d]\n", first, last, len(lines))
	}
	return b.String(), first, last
}

// cutLine returns at most n bytes of a line.
func cutLine(line string, n int) string {
	if len(line) <= n {
		return line
	}
	return strings.ToValidUTF8(line[:n], "") + fmt.Sprintf(" [%d bytes more]", len(line)-n)
}
