package tool

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"agentctl/internal/filelist"
	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

type globArguments struct {
	Pattern string `json:"pattern" about:"of the paths"`
	Path    string `json:"path,omitempty" about:"the directory; default: the working directory"`
}

// Limits of a search.
const (
	maxFound   = 200 // results
	searchTime = 30 * time.Second
)

var searchTimeText = fmt.Sprintf("[not all files were looked at in %d s: search in a directory below]\n",
	int(searchTime.Seconds()))

// globFiles returns the tool that finds files by their names.
func (b *Toolbox) globFiles() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "glob", Kind: protocol.ToolSearch, Parallel: true,
		About: fmt.Sprintf("Finds files by their paths, without those that git ignores: *.go, src/**/*.{ts,tsx}. A "+
			"pattern without a slash matches names in every directory. At most %d are returned.", maxFound),
	}, func(_ context.Context, _ *llm.ToolCall, in globArguments) (llm.Preview, error) {
		if err := filelist.CheckGlob(in.Pattern); err != nil {
			return llm.Preview{}, err
		}
		p, err := b.dir.locate(cmp.Or(in.Path, "."))
		if err != nil {
			return llm.Preview{}, err
		}
		return p.reading("Find "+in.Pattern+where(&p), func(ctx context.Context) (llm.ToolResult, error) {
			return p.glob(ctx, in.Pattern)
		}), nil
	})
}

// where returns where a search is, for its title.
func where(p *place) string {
	if p.shown == "." {
		return ""
	}
	return " in " + p.shown
}

// glob returns the paths below a directory that match a pattern.
func (p *place) glob(ctx context.Context, pattern string) (llm.ToolResult, error) {
	search, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	var b strings.Builder
	n := 0
	for name := range filelist.All(search, p.real) {
		if !filelist.MatchGlob(pattern, name) {
			continue
		}
		if n++; n > maxFound {
			fmt.Fprintf(&b, "[only the first %d files]\n", maxFound)
			break
		}
		b.WriteString(path.Join(slash(p), name) + "\n")
	}
	if err := ctx.Err(); err != nil {
		return llm.ToolResult{}, err
	}
	if n == 0 {
		b.WriteString("[no file matches]\n")
	}
	if search.Err() != nil {
		b.WriteString(searchTimeText)
	}
	return llm.ToolResult{Text: b.String()}, nil
}

// slash returns the path of a place with slashes, as tools take it.
func slash(p *place) string { return strings.ReplaceAll(p.shown, `\`, "/") }
