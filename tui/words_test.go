package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// replacedWords are wordings that the screen does not use, with those that it uses.
var replacedWords = []struct{ old, now string }{
	{`own words:`, "Other:"},
	{`Do not answer`, "Skip"},
	{`\b(enter keeps|keeps it|gives up|ends it)\b`, "saves, applies, cancels, closes"},
	{`does not tell\b`, "not available"},
	{`last turn error`, "last turn failed"},
	{`\btouches\b`, "changes"},
	{`makes it smaller|\bsmaller\b|strategy none`, "compacts, no automatic compaction"},
	{`draw anew|other way round|wrote before`, "redraw, backwards, previous message"},
	{`begins a choice|copied lines:`, "starts selection, copied 2 lines"},
	{`\bd way\b|/ words|words found`, "d direction, / filter, matches"},
	{`Make another plan|for the reason given`, "Approve plan, Revise with reason"},
	{`the next starts|hold it\b|clear it\b|keep it\b`, "keep, hold, clear"},
	{`allowed without asking|things? allowed`, "rule"},
	{`\bunfold|or fold\b`, "expand, collapse"},
	{`waits for an edit`, "paused while NAME edits"},
	{`\b(read Read|list List)\b`, "the title alone"},
	{`[0-9]k? in · [0-9.]+k? out`, "tokens in"},
	{`the server's default|none: it waits`, "(default), (server's), (optional)"},
	{`\b(whoever|nobody)\b`, "user"},
}

// TestScreenUsesTheWordsOfItsVocabulary compares the texts in the code of the screens, and the
// golden screens, with the replaced wordings.
func TestScreenUsesTheWordsOfItsVocabulary(t *testing.T) {
	words := make([]*regexp.Regexp, len(replacedWords))
	for i, w := range replacedWords {
		words[i] = regexp.MustCompile(w.old)
	}
	check := func(place, text string) {
		for i, w := range words {
			if at := w.FindStringIndex(text); at != nil {
				line := text[strings.LastIndexByte(text[:at[0]], '\n')+1:]
				line, _, _ = strings.Cut(line, "\n")
				t.Errorf("%s: %q in %q: write %s", place, text[at[0]:at[1]], line, replacedWords[i].now)
			}
		}
	}
	texts := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, ".golden"):
			b, err := os.ReadFile(path)
			check(path, string(b))
			return err
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			return eachText(path, func(place, text string) {
				texts++
				check(place, text)
			})
		}
		return nil
	})
	if err != nil || texts < 1000 {
		t.Errorf("%d texts checked: %v", texts, err)
	}
}

// eachText calls f with each string of a source file that contains a space. Imports, tags of
// structs and the names of actions have none.
func eachText(path string, f func(place, text string)) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
				f(files.Position(lit.Pos()).String(), text)
			}
		}
		return true
	})
	return nil
}
