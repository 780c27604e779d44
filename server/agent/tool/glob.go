package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"agentctl/internal/filelist"
	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// globFiles is the tool that finds files by their names.
type globFiles struct{ box *Toolbox }

type globArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

// Limits of a search.
const (
	maxFound   = 200 // results
	searchTime = 30 * time.Second
)

var searchTimeText = fmt.Sprintf("[not all files were looked at in %d s: search in a directory below]\n",
	int(searchTime.Seconds()))

// Spec implements llm.Tool.
func (t *globFiles) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "glob", Kind: protocol.ToolSearch, Parallel: true,
		About: fmt.Sprintf("Finds files by their paths, without those that git ignores: *.go, src/**/*.{ts,tsx}. A "+
			"pattern without a slash matches names in every directory. At most %d are returned.", maxFound),
		Schema: schema(fields{
			"pattern": textField("of the paths"), "path": textField("the directory; default: the working directory"),
		}, "path"),
	}
}

// Preview implements llm.Tool.
func (t *globFiles) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[globArguments](c, t)
	if err != nil {
		return llm.Preview{}, err
	}
	if err := filelist.CheckGlob(in.Pattern); err != nil {
		return llm.Preview{}, err
	}
	p, err := t.box.dir.locate(cmp.Or(in.Path, "."))
	if err != nil {
		return llm.Preview{}, err
	}
	c.Plan = p
	return p.reading("Find " + in.Pattern + where(&p)), nil
}

// where returns where a search is, for its title.
func where(p *place) string {
	if p.shown == "." {
		return ""
	}
	return " in " + p.shown
}

// Run implements llm.Tool.
func (t *globFiles) Run(ctx context.Context, c *llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
	in, err := arguments[globArguments](c, t)
	if err != nil {
		return llm.ToolResult{}, err
	}
	p, ok := c.Plan.(place)
	if !ok {
		return llm.ToolResult{}, errors.New("the directory was not checked")
	}
	search, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	var b strings.Builder
	n := 0
	for name := range filelist.All(search, p.real) {
		if !filelist.MatchGlob(in.Pattern, name) {
			continue
		}
		if n++; n > maxFound {
			fmt.Fprintf(&b, "[only the first %d files]\n", maxFound)
			break
		}
		b.WriteString(path.Join(slash(&p), name) + "\n")
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
