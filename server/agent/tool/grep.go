package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/internal/filelist"
	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/policy"
)

type grepArguments struct {
	Pattern    string `json:"pattern" about:"the regular expression"`
	Path       string `json:"path,omitempty" about:"a directory or a file; default: the working directory"`
	Glob       string `json:"glob,omitempty" about:"only files whose paths match, such as *.go"`
	IgnoreCase bool   `json:"ignore_case,omitempty" about:"a matches A"`
}

// Limits of a search.
const (
	grepFile = 4 << 20 // bytes of a file that is searched
	grepLine = 400     // bytes of a line that is returned
)

// grepFiles returns the tool that searches the contents of files.
func (b *Toolbox) grepFiles() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "grep", Kind: protocol.ToolSearch, Parallel: true,
		About: fmt.Sprintf("Searches text files for a regular expression (RE2), without files that git ignores. "+
			"Returns PATH:LINE:TEXT, at most %d lines.", maxFound),
	}, b.checkGrep)
}

func (b *Toolbox) checkGrep(_ context.Context, _ *llm.ToolCall, in grepArguments) (llm.Preview, error) {
	text := in.Pattern
	if in.IgnoreCase {
		text = "(?i)" + text
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return llm.Preview{}, fmt.Errorf("invalid pattern: %w", err)
	}
	if in.Glob != "" {
		if err := filelist.CheckGlob(in.Glob); err != nil {
			return llm.Preview{}, err
		}
	}
	p, err := b.dir.locate(cmp.Or(in.Path, "."))
	if err != nil {
		return llm.Preview{}, err
	}
	return p.reading("Search "+in.Pattern+where(&p), func(ctx context.Context) (llm.ToolResult, error) {
		s := search{place: &p, pattern: pattern, inFile: inFile(in.IgnoreCase, in.Pattern)}
		return s.run(ctx, in.Glob)
	}), nil
}

// inFile returns a pattern that matches every text with a line that a valid pattern matches, or nil. Line ends
// must be \n.
func inFile(ignoreCase bool, pattern string) *regexp.Regexp {
	if strings.Contains(pattern, `\A`) || strings.Contains(pattern, `\z`) || strings.Contains(pattern, "(?") {
		return nil
	}
	flags := "(?m)"
	if ignoreCase {
		flags = "(?mi)"
	}
	p, _ := regexp.Compile(flags + pattern) // it is valid
	return p
}

// A search is a run of the tool grep.
type search struct {
	root    *os.Root
	place   *place
	pattern *regexp.Regexp
	inFile  *regexp.Regexp // matches every text with a line that pattern matches; nil: not known

	out     strings.Builder
	found   int
	skipped int  // files that are too large
	more    bool // files were not looked at in time
}

// run searches the files that match a glob; empty: all.
func (s *search) run(ctx context.Context, glob string) (llm.ToolResult, error) {
	root, err := s.place.open()
	if err != nil {
		return llm.ToolResult{}, err
	}
	defer func() { _ = root.Close() }()
	s.root = root
	info, err := root.Lstat(s.place.name)
	if err != nil {
		return llm.ToolResult{}, fmt.Errorf("search %s: %w", s.place.shown, reason(err))
	}
	timed, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	files := slices.Values([]string{"."})
	if info.IsDir() {
		files = filelist.All(timed, s.place.real)
	}
	for name := range files {
		if err := ctx.Err(); err != nil {
			return llm.ToolResult{}, err
		}
		if glob == "" || filelist.MatchGlob(glob, path.Join(path.Base(slash(s.place)), name)) ||
			filelist.MatchGlob(glob, name) {
			s.file(name)
		}
		if s.found >= maxFound {
			break
		}
	}
	s.more = timed.Err() != nil
	return llm.ToolResult{Text: s.result()}, ctx.Err()
}

// file searches a file, if it is a text.
func (s *search) file(name string) {
	full := filepath.Join(s.place.name, filepath.FromSlash(name))
	info, err := s.root.Lstat(full)
	if err != nil || !info.Mode().IsRegular() ||
		policy.Internal(filepath.Join(s.place.real, filepath.FromSlash(name)), s.place.dir.own) {
		return
	}
	if s.place.dir.box.May(filepath.Join(s.place.real, filepath.FromSlash(name)), false) != nil {
		return
	}
	if info.Size() > grepFile {
		s.skipped++
		return
	}
	b, err := s.root.ReadFile(full)
	if err != nil || bytes.IndexByte(b[:min(len(b), 8<<10)], 0) >= 0 {
		return
	}
	if s.inFile != nil && bytes.IndexByte(b, '\r') < 0 && !s.inFile.Match(b) { // faster than line by line
		return
	}
	n := 0
	for line := range bytes.Lines(b) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if !s.pattern.Match(line) {
			continue
		}
		text := string(line)
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "\uFFFD")
		}
		fmt.Fprintf(&s.out, "%s:%d:%s\n", path.Join(slash(s.place), name), n, cutLine(text, grepLine))
		if s.found++; s.found >= maxFound {
			return
		}
	}
}

func (s *search) result() string {
	switch {
	case s.found >= maxFound:
		fmt.Fprintf(&s.out, "[only the first %d lines]\n", maxFound)
	case s.found == 0:
		s.out.WriteString("[no line matches]\n")
	}
	if s.skipped > 0 {
		fmt.Fprintf(&s.out, "[%d files larger than %d MiB were not searched]\n", s.skipped, grepFile>>20)
	}
	if s.more {
		s.out.WriteString(searchTimeText)
	}
	return s.out.String()
}
