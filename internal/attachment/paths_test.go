package attachment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPastedPaths(t *testing.T) {
	for text, want := range map[string][]string{
		"/tmp/a.png":                         {"/tmp/a.png"},
		" /tmp/a.png \n":                     {"/tmp/a.png"},
		"'/tmp/my shot.png'":                 {"/tmp/my shot.png"},
		`"/tmp/my shot.png" `:                {"/tmp/my shot.png"},
		`/tmp/my\ shot\(1\).png`:             {"/tmp/my shot(1).png"},
		"/tmp/my shot.png":                   {"/tmp/my shot.png"},
		"file:///tmp/my%20shot.png":          {"/tmp/my shot.png"},
		"file://localhost/tmp/a":             {"/tmp/a"},
		"file:///tmp/a\r\nfile:///tmp/b\r\n": {"/tmp/a", "/tmp/b"},
		"/tmp/a '/tmp/b c' ~/d":              {"/tmp/a", "/tmp/b c", "/home/ada/d"},
		"'/tmp/it'\\''s'":                    {"/tmp/it's"},
		"file://elsewhere/tmp/a":             nil,
		"https://example.org/a":              nil,
		"relative/a.png":                     nil,
		"a word":                             nil,
		"/tmp/a is broken":                   {"/tmp/a is broken"}, // no such file: it stays text
		"/tmp/a\nand more":                   nil,
		"'/tmp/open":                         nil,
		"":                                   nil,
		"/a" + strings.Repeat("x", maxPaste): nil,
		strings.Repeat("/a ", maxPaths+1):    nil,
		"file:///tmp/%00":                    nil,
		"file:///tmp/%zz":                    nil,
		"it's /tmp/a":                        nil,
	} {
		if got := PastedPaths(text, "/home/ada"); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestMentionedFilesAreThoseThatExist(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a.go": "package a", "b c.txt": "words", "shot.png": "\x89PNG\r\n\x1a\n", "x.": "dot",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"look at @a.go, please":       "a.go",
		"(@a.go) and @shot.png!":      "a.go shot.png",
		"@a.go @a.go":                 "a.go",
		`see @"b c.txt"`:              "b c.txt",
		"@x.":                         "x.",
		"@" + dir + "/a.go":           "a.go",
		"@ada, mail ada@a.go @folder": "",
		"@../none @ @\"\"":            "",
		"nothing":                     "",
		"@a.go\n@shot.png":            "a.go shot.png",
	} {
		var names []string
		for _, f := range Mentioned(text, dir) {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q mentions %q, want %q", text, got, want)
		}
	}
}
