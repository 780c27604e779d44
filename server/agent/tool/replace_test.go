package tool

import (
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	for name, test := range map[string]struct {
		file, old, text string
		all             bool
		want, err       string
	}{
		"once":                   {file: "a b c", old: "b", text: "x", want: "a x c"},
		"several lines":          {file: "a\nb\nc\n", old: "a\nb\n", text: "x\n", want: "x\nc\n"},
		"removed":                {file: "a\nb\n", old: "b\n", text: "", want: "a\n"},
		"no line end at the end": {file: "a\nb", old: "b", text: "c", want: "a\nc"},
		"CRLF": {
			file: "a\r\nb\r\nc\r\n", old: "a\nb", text: "x\ny\nz", want: "x\r\ny\r\nz\r\nc\r\n",
		},
		"CRLF in the text":                  {file: "a\r\nb\r\n", old: "a\r\nb", text: "x\r\ny", want: "x\r\ny\r\n"},
		"everywhere":                        {file: "a a\na\n", old: "a", text: "b", all: true, want: "b b\nb\n"},
		"blanks at the end":                 {file: "a  \nb\t\nc\n", old: "a\nb\n", text: "x\n", want: "x\nc\n"},
		"blanks, no line end":               {file: "a  \nb\t\nc\n", old: "a\nb", text: "x", want: "x\nc\n"},
		"blanks with CRLF":                  {file: "a \r\nb\r\nc\r\n", old: "a\nb\n", text: "x\ny\n", want: "x\r\ny\r\nc\r\n"},
		"twice":                             {file: "a\nb\na\n", old: "a", text: "x", err: "lines 1 and 3"},
		"overlapping":                       {file: "aaa", old: "aa", text: "x", err: "more than once"},
		"twice without trailing whitespace": {file: "a \nb\na\t\nb\n", old: "a\nb\n", text: "x", err: "there twice"},
		"absent":                            {file: "a\n", old: "b", text: "x", err: "is not in the file"},
		"other indentation":                 {file: "\ta\n", old: "    a", text: "x", err: "is not in the file"},
		"equal":                             {file: "a", old: "a", text: "a", err: "nothing to change"},
		"empty":                             {file: "a", old: "", text: "a", err: "old_string is empty"},
		"longer than the file":              {file: "a", old: "a\nb\nc", text: "x", err: "is not in the file"},
		"an empty file":                     {file: "", old: "a", text: "x", err: "is not in the file"},
		"costly but for its blank": {
			file: strings.Repeat("x\n", 30_000), old: strings.Repeat("x\n", 15_000) + "y", text: "z", err: "costly",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := replace(test.file, test.old, test.text, test.all)
			if test.err == "" && (err != nil || got != test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || got != "") {
				t.Errorf("got %q, %v, want %q", got, err, test.err)
			}
		})
	}
}

// A replaced text changes one place and keeps the text before and after.
func FuzzReplace(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "x", false)
	f.Add("a \r\nb\r\n", "a\nb\n", "x\ny", false)
	f.Add("aa", "a", "", true)
	f.Fuzz(func(t *testing.T, file, old, text string, all bool) {
		got, note, err := replace(file, old, text, all)
		if err != nil {
			if got != "" {
				t.Errorf("%q with the error %v", got, err)
			}
			return
		}
		if all || note != "" || strings.Contains(file, "\r\n") {
			return
		}
		before, after, found := strings.Cut(file, old)
		if !found || got != before+text+after {
			t.Errorf("%q became %q", file, got)
		}
	})
}

func TestAFileIsReadBeforeItIsChanged(t *testing.T) {
	r := newRig(t, map[string]string{"a": "1\n"})
	change := func(name string) error {
		in := args{"path": "a", "content": "2\n"}
		if name == "edit" {
			in = args{"path": "a", "old_string": "1", "new_string": "2"}
		}
		_, err := r.tool(name).Preview(t.Context(), r.call(in))
		return err
	}
	for _, name := range []string{"edit", "write"} {
		if err := change(name); err == nil || !strings.Contains(err.Error(), "read it before") {
			t.Errorf("%s before it was read: %v", name, err)
		}
	}
	r.must("read", args{"path": "a"})
	r.put("a", "1 \n")
	for _, name := range []string{"edit", "write"} {
		if err := change(name); err == nil || !strings.Contains(err.Error(), "has changed since") {
			t.Errorf("%s after it changed: %v", name, err)
		}
	}
	r.must("read", args{"path": "a"})
	r.must("edit", args{"path": "a", "old_string": "1", "new_string": "3"})
	r.must("write", args{"path": "a", "content": "2\n"}) // it knows what it wrote
	r.must("write", args{"path": "new/b", "content": "x"})
	if got, want := r.tree(), "a \"2\\n\"\nnew/b \"x\"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnEditAppliesOnlyToTheFileAsItWasShown(t *testing.T) {
	r := newRig(t, map[string]string{"a": "1\n"})
	r.must("read", args{"path": "a"})
	c := r.call(args{"path": "a", "old_string": "1", "new_string": "2"})
	p, err := r.tool("edit").Preview(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r.put("a", "0\n1\n")
	if _, err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(),
		"another program") {
		t.Errorf("%v", err)
	}
	if got := r.tree(); got != "a \"0\\n1\\n\"\n" {
		t.Errorf("got %s", got)
	}
}
