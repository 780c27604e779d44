//go:build unix

package tool

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/dev/thorough"
)

func TestRead(t *testing.T) {
	var long strings.Builder
	for i := range 3000 {
		long.WriteString(strconv.Itoa(i+1) + "\n")
	}
	r := newRig(t, map[string]string{
		"a": "one\ntwo\r\nthree", "empty": "", "long": long.String(), "wide": strings.Repeat("é", 5000),
		"bin":  "\x00\x01",
		"huge": strings.Repeat(strings.Repeat("x", 1999)+"\n", 100),
	})
	for name, test := range map[string]struct {
		in   args
		want string
	}{
		"all":             {args{"path": "a"}, "     1\tone\n     2\ttwo\n     3\tthree\n"},
		"a range":         {args{"path": "a", "offset": 2, "limit": 1}, "     2\ttwo\n[lines 2 to 2 of 3]\n"},
		"an empty file":   {args{"path": "empty"}, "[the file is empty]"},
		"after the end":   {args{"path": "a", "offset": 9}, "[the file has 3 lines]"},
		"a long file":     {args{"path": "long"}, "[lines 1 to 2000 of 3000]"},
		"the end of it":   {args{"path": "long", "offset": 2999}, "  3000\t3000\n[lines 2999 to 3000 of 3000]\n"},
		"a wide line":     {args{"path": "wide"}, "é [8000 bytes more]"},
		"many wide lines": {args{"path": "huge"}, "of 100]"},
	} {
		if got := r.must("read", test.in); !strings.Contains(got, test.want) || len(got) > readBytes+lineBytes+200 {
			t.Errorf("%s: %.300q", name, got)
		}
	}
	r.link("a", "link")
	if got := r.must("read", args{"path": "link", "limit": 1}); !strings.Contains(got, "one") {
		t.Errorf("a link: %q", got)
	}
	if err := syscall.Mkfifo(r.dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"bin": "not a text", "none": "does not exist", ".": "is a directory", "pipe": "not a regular file",
		"output:1": "there is no output:1", "output:x": "there is no",
	} {
		if _, _, err := r.run(t.Context(), "read", args{"path": path}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAnImageIsReadAsAFile(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, map[string]string{"dir/plot.png": b.String()})
	_, result, err := r.run(t.Context(), "read", args{"path": "dir/plot.png"})
	if err != nil || len(result.Files) != 1 || result.Files[0].MediaType != "image/png" ||
		result.Files[0].Name != "plot.png" || !bytes.Equal(result.Files[0].Data, b.Bytes()) {
		t.Errorf("%+v, %v", result, err)
	}
}

// A file:// URL names a file as a path does: the policy sees the path.
func TestAFileURLIsReadAsItsPath(t *testing.T) {
	r := newRig(t, map[string]string{"my shot.txt": "one", "../other/away": "two"})
	for name, test := range map[string]struct {
		url, want string
		safe      bool
	}{
		"in the directory": {"file://" + r.dir + "/my%20shot.txt", "     1\tone\n", true},
		"by name":          {"file://localhost" + r.dir + "/my%20shot.txt", "     1\tone\n", true},
		"outside":          {"file://" + r.dir + "/../other/away", "     1\ttwo\n", false},
	} {
		c := r.call(args{"path": test.url})
		preview, err := r.tool("read").Preview(t.Context(), c)
		if err != nil || preview.Safe != test.safe || (preview.Request.Why != "") == test.safe {
			t.Errorf("%s: %+v, %v", name, preview, err)
		}
		if strings.Contains(string(c.Input), "file:") || strings.Contains(string(c.Input), "%") {
			t.Errorf("%s: the policy sees %s", name, c.Input)
		}
		result, err := preview.Run(t.Context(), nil)
		if err != nil || result.Text != test.want {
			t.Errorf("%s: %q, %v", name, result.Text, err)
		}
	}
	for _, url := range []string{"file://elsewhere/etc/hosts", "file:a", "file://%zz", "file:///%00"} {
		if _, err := r.tool("read").Preview(t.Context(), r.call(args{"path": url})); err == nil {
			t.Errorf("%s is a file", url)
		}
	}
}

func TestSearches(t *testing.T) {
	r := newRig(t, map[string]string{
		".gitignore": "/out\n", ".git/config": "func", "a.go": "package a\nfunc One() {}\n",
		"b/c.go":  "func two() {}\r\n",
		"b/d.txt": "func\n", "out/e.go": "func three\n", "bin": "func\x00", "latin": "func \xff\n",
		"../other/f.go": "func\n",
	})
	r.link("../other", "away")
	for name, test := range map[string]struct {
		tool string
		in   args
		want string
	}{
		"glob by name":    {"glob", args{"pattern": "*.go"}, "a.go\nb/c.go\n"},
		"glob by path":    {"glob", args{"pattern": "b/*.{go,txt}"}, "b/c.go\nb/d.txt\n"},
		"glob below":      {"glob", args{"pattern": "*.go", "path": "b"}, "b/c.go\n"},
		"glob of nothing": {"glob", args{"pattern": "*.rs"}, "[no file matches]\n"},
		"grep":            {"grep", args{"pattern": `func (O|t)\w+`}, "a.go:2:func One() {}\nb/c.go:1:func two() {}\n"},
		"grep a kind":     {"grep", args{"pattern": "func", "glob": "*.txt"}, "b/d.txt:1:func\n"},
		"grep a file": {
			"grep", args{"pattern": "^FUNC", "path": "b/c.go", "ignore_case": true}, "b/c.go:1:func two() {}\n",
		},
		"grep bad bytes": {"grep", args{"pattern": "func .$", "glob": "latin"}, "latin:1:func \uFFFD\n"},
		"grep nothing":   {"grep", args{"pattern": "nothing"}, "[no line matches]\n"},
		"list":           {"list", args{}, ".git/\n.gitignore\na.go\naway\nb/\nbin\nlatin\nout/"},
		"list below":     {"list", args{"path": "b"}, "c.go\nd.txt"},
	} {
		p, result, err := r.run(t.Context(), test.tool, test.in)
		if err != nil || result.Text != test.want || !p.Safe {
			t.Errorf("%s: %q, %v, safe %t", name, result.Text, err, p.Safe)
		}
	}
	for _, tool := range []string{"glob", "grep", "list"} {
		in := args{"path": "away"}
		if tool != "list" {
			in["pattern"] = "f"
		}
		if p, err := r.tool(tool).Preview(t.Context(), r.call(in)); err != nil || p.Safe || p.Request.Why == "" {
			t.Errorf("%s of a directory outside: %+v, %v", tool, p, err)
		}
	}
	if _, _, err := r.run(t.Context(), "grep", args{"pattern": "("}); err == nil {
		t.Error("an invalid pattern is accepted")
	}
	if got := r.must("grep", args{"pattern": "func", "path": "../other"}); !strings.HasSuffix(got, "f.go:1:func\n") {
		t.Errorf("outside: %q", got)
	}
	r.put("many", strings.Repeat("same\n", 1000))
	if got := r.must("grep", args{"pattern": "same"}); !strings.Contains(got, "[only the first 200 lines]") {
		t.Errorf("many: %.100q", got)
	}
}

func TestSteps(t *testing.T) {
	r := newRig(t, nil)
	step := func(title, status string) map[string]string {
		return map[string]string{"title": title, "status": status}
	}
	p, result, err := r.run(t.Context(), "todo", args{"steps": []any{step("a", "completed"), step("b", "running")}})
	if err != nil || !p.Safe || p.Title != "1 of 2 steps done" || len(result.Tasks) != 2 ||
		result.Tasks[1].Title != "b" {
		t.Errorf("%+v, %+v, %v", p, result, err)
	}
	for name, steps := range map[string][]any{
		"none": {}, "no title": {step("", "pending")}, "a status": {step("a", "later")}, "many": make([]any, maxSteps+1),
	} {
		if _, _, err := r.run(t.Context(), "todo", args{"steps": steps}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Every line that matches is found, whether the file is first searched as a whole or not.
func TestGrepFindsEveryLine(t *testing.T) {
	r := newRig(t, map[string]string{
		"unix": "first\nsecond foo\nlast", "windows": "first\r\nsecond foo\r\nlast\r\n", "other": "nothing here\nfo\no",
	})
	for pattern, want := range map[string]int{
		`foo$`: 2, `^second`: 2, `^last$`: 2, `\Asecond`: 2, `o\z`: 3 + 1, `(?i)FOO`: 2, `^\w+ foo$`: 2, `fo\no`: 0, `t$`: 4,
	} {
		if got := r.must("grep", args{"pattern": pattern}); strings.Count(got, "\n")-strings.Count(got, "[no line") != want {
			t.Errorf("%s: want %d lines, got\n%s", pattern, want, got)
		}
	}
}

// Searches see more files than a listing for people has, which is bounded in levels and in files.
func TestSearchesSeeEveryFile(t *testing.T) {
	r := newRig(t, nil)
	for i := range thorough.Rounds(1, 21) {
		dir := filepath.Join(r.dir, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for k := range 1000 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(k)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	deep := strings.Repeat("deep/", 30) + "needle"
	r.put(deep, "in the haystack")
	if got := r.must("glob", args{"pattern": "needle"}); got != deep+"\n" {
		t.Errorf("glob: %q", got)
	}
	if got := r.must("grep", args{"pattern": "haystack"}); got != deep+":1:in the haystack\n" {
		t.Errorf("grep: %q", got)
	}
}
