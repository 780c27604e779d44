package patch

import (
	"strings"
	"testing"
)

// update returns a patch of the file f.
func update(lines ...string) string {
	return "*** Begin Patch\n*** Update File: f\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

func TestUpdates(t *testing.T) {
	for name, test := range map[string]struct{ text, patch, want string }{
		"a line":           {"a\nb\nc\n", update("@@", " a", "-b", "+B", " c"), "a\nB\nc\n"},
		"without a header": {"a\nb\n", update(" a", "-b", "+B"), "a\nB\n"},
		"two chunks":       {"a\nb\nc\nd\n", update("@@", "-a", "+A", "@@", "-d", "+D"), "A\nb\nc\nD\n"},
		"the first hit":    {"x\nx\n", update("@@", "-x", "+y"), "y\nx\n"},
		"the next hit":     {"x\nx\n", update("@@", "-x", "+y", "@@", "-x", "+z"), "y\nz\n"},
		"after a header": {
			"func a\nx\nfunc b\nx\n", update("@@ func b", "-x", "+y"), "func a\nx\nfunc b\ny\n",
		},
		"after two headers": {
			"A\nm\nx\nB\nm\nx\n", update("@@ B", "@@ m", "-x", "+y"), "A\nm\nx\nB\nm\ny\n",
		},
		"with the numbers of a diff": {"a\nb\n", update("@@ -1,2 +1,2 @@ func x", " a", "-b", "+B"), "a\nB\n"},
		"at the end":                 {"x\na\nx\n", update("@@", "-x", "+y", "*** End of File"), "x\na\ny\n"},
		"appended":                   {"a\n", update("@@", "+b"), "a\nb\n"},
		"to an empty file":           {"", update("@@", "+b"), "b\n"},
		"inserted after a header":    {"a\nb\n", update("@@ a", "+x"), "a\nx\nb\n"},
		"an empty line as context":   {"a\n\nb\n", update("@@", " a", "", "-b", "+c"), "a\n\nc\n"},
		"an empty line at the end":   {"a\nb\n", update("@@", " a", "-b", "+c", " "), "a\nc\n"},
		"blanks at the end differ":   {"a  \nb\n", update("@@", " a", "-b", "+c"), "a  \nc\n"},
		"indentation differs":        {"\ta\n\tb\n", update("@@", "     a", "-    b", "+\tc"), "\ta\n\tc\n"},
		"quotes differ":              {"“a”\nb – c\n", update("@@", ` "a"`, "-b - c", "+d"), "“a”\nd\n"},
		"CRLF stays": {
			"a\r\nb\r\nc\r\n", update("@@", " a", "-b", "+x", "+y"), "a\r\nx\r\ny\r\nc\r\n",
		},
		"mixed line ends stay":      {"a\r\nb\nc\r\n", update("@@", "-b", "+x"), "a\r\nx\nc\r\n"},
		"no line end at the end":    {"a\nb", update("@@", "-a", "+x"), "x\nb"},
		"the last line without end": {"a\nb", update("@@", " a", "-b", "+x"), "a\nx"},
		"appended without end":      {"a\nb", update("@@", "+c"), "a\nb\nc"},
		"a CR without a line end":   {"a\nb\r", update("@@", "-a", "+x"), "x\nb\r"},
		"a mark as context": {
			"*** End Patch\na\n", update("@@", " *** End Patch", "-a", "+b"), "*** End Patch\nb\n",
		},
		"everything removed":          {"a\n", update("@@", "-a"), ""},
		"a note of diff":              {"a", update("@@", "-a", `\ No newline at end of file`, "+b"), "b"},
		"empty lines after the patch": {"a\n", update("@@", "-a", "+b", "", ""), "b\n"},
		"a patch with CRLF": {
			"a\nb\n", strings.ReplaceAll(update("@@", " a", "-b", "+c"), "\n", "\r\n"), "a\nc\n",
		},
		"a here-document": {"a\n", "<<'EOF'\n" + update("@@", "-a", "+b") + "\nEOF", "b\n"},
		"padded marks":    {"a\n", "  *** Begin Patch \n *** Update File: f \n@@ \n-a\n+b\n *** End Patch ", "b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Parse(test.patch)
			if err != nil {
				t.Fatal(err)
			}
			got, exact, err := files[0].Apply(test.text)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if want := !strings.HasSuffix(name, "differ") && !strings.HasSuffix(name, "differs"); exact != want {
				t.Errorf("exact: %t", exact)
			}
		})
	}
}

func TestConflictsChangeNothing(t *testing.T) {
	for name, test := range map[string]struct{ text, patch, want string }{
		"other lines":          {"a\nb\n", update("@@", " a", "-x", "+y"), "does not have these lines"},
		"no header":            {"a\n", update("@@ func", "-a", "+y"), "the line after @@"},
		"the wrong order":      {"a\nb\n", update("@@", "-b", "+y", "@@", "-a", "+z"), "chunk 2 of 2"},
		"not at the end":       {"a\nb\n", update("@@", "-a", "+y", "*** End of File"), "does not have"},
		"two places by blanks": {" a\n\ta\n", update("@@", "-a", "+b"), "line 1 and at line 2"},
		"longer than the file": {"a\n", update("@@", " a", " b", "-c", "+d"), "does not have"},
		"an empty file":        {"", update("@@", "-a", "+b"), "does not have"},
		"costly": {
			strings.Repeat("x\n", 40_000), update("@@", strings.Repeat(" x\n", 20_000)+"-y"), "costly",
		},
		"the same lines twice":  {"a\n", update("@@", "-a", "+b", "@@", "-a", "+c"), "chunk 2"},
		"old lines overlapping": {"a\nb\n", update("@@", " a", "-b", "@@", " b", "+c"), "chunk 2"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Parse(test.patch)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := files[0].Apply(test.text)
			if err == nil || got != "" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.100q, %.300v", got, err)
			}
		})
	}
}

func TestAPatchOfSeveralFiles(t *testing.T) {
	files, err := Parse("*** Begin Patch\n*** Add File: a/b.txt\n+one\n+\n+*** End Patch\n*** Delete File: c\n" +
		"*** Update File: d\n*** Move to: e\n*** Update File: g\n*** Move to: h\n@@\n-x\n+y\n\n*** Add File: empty\n" +
		"*** End Patch\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, strings.Join([]string{f.Path, f.MoveTo, f.Text}, "|"))
	}
	want := "a/b.txt||one\n\n*** End Patch\n c|| d|e| g|h| empty||"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestInvalidPatches(t *testing.T) {
	for name, test := range map[string]struct{ patch, want string }{
		"empty":               {"", "does not begin"},
		"no begin":            {"*** Update File: f\n*** End Patch", "does not begin"},
		"no end":              {"*** Begin Patch\n*** Delete File: f", "does not end"},
		"only the begin":      {"*** Begin Patch\n", "does not end"},
		"no file":             {"*** Begin Patch\n*** End Patch", "changes no file"},
		"no path":             {"*** Begin Patch\n*** Delete File:  \n*** End Patch", "want *** Add File"},
		"a unified diff":      {"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b", "does not begin"},
		"no lines":            {update(), "has no lines"},
		"only context":        {update("@@", " a"), "changes nothing"},
		"a header alone":      {update("@@ a"), "changes nothing"},
		"a line without mark": {update("@@", "-a", "b"), "begins with a space"},
		"text before chunks":  {update("hello"), "begins with a space"},
		"text after end":      {update("@@", "-a", "*** End of File", "-b"), "want a line that begins with @@"},
		"too large":           {strings.Repeat("x", maxPatch+1), "larger than"},
		"too many files": {
			"*** Begin Patch\n" + strings.Repeat("*** Delete File: f\n", maxFiles+1) + "*** End Patch",
			"more than",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if files, err := Parse(test.patch); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %+v, %.300v", files, err)
			}
		})
	}
}

// Five MB are patched within the limits.
func TestALargePatch(t *testing.T) {
	line := strings.Repeat("0123456789", 10)
	text := strings.Repeat(line+"\n", 50_000)
	files, err := Parse(update("@@", "-"+strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n-"), "\n-"), "+new"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := files[0].Apply("first\n" + text + "last\n"); err != nil || got != "first\nnew\nlast\n" {
		t.Errorf("%.100q, %.200v", got, err)
	}
}

// A patch that is parsed and applies keeps the lines that it does not name.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\r\nc", update("@@", " a", "-b", "+B", " c"))
	f.Add("a\n\nb\n", update("@@ a", "-b", "+c", "", "*** End of File"))
	f.Add("", "<<EOF\n*** Begin Patch\n*** Add File: x\n+a\n*** End Patch\nEOF")
	f.Fuzz(func(t *testing.T, text, patch string) {
		files, err := Parse(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			if file.Path == "" {
				t.Errorf("no path: %+v", file)
			}
			if file.Operation != Update {
				continue
			}
			got, _, err := file.Apply(text)
			if err != nil {
				continue
			}
			removed := 0
			for _, c := range file.Chunks {
				removed += len(c.lines('+')) - len(c.lines('-')) // removed less added
			}
			if before, after := count(text), count(got); before-after != removed {
				t.Errorf("%d lines became %d, and the patch removes %d: %q", before, after, removed, got)
			}
		}
	})
}

// count returns the number of lines, counting one without a line end.
func count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func TestAByteOrderMarkStays(t *testing.T) {
	for name, c := range map[string]struct{ chunk, want string }{
		"not in the patch":  {"-one\n+ONE\n two\n", "\ufeffONE\r\ntwo\r\n"},
		"before the start":  {"+zero\n one\n", "\ufeffzero\r\none\r\ntwo\r\n"},
		"in the patch":      {"-\ufeffone\n+\ufeffONE\n", "\ufeffONE\r\ntwo\r\n"},
		"taken away by it":  {"-\ufeffone\n+one\n", "one\r\ntwo\r\n"},
		"of unchanged line": {"-two\n+TWO\n", "\ufeffone\r\nTWO\r\n"},
	} {
		files, err := Parse("*** Begin Patch\n*** Update File: a\n@@\n" + c.chunk + "*** End Patch\n")
		if err != nil {
			t.Fatal(err)
		}
		got, exact, err := files[0].Apply("\ufeffone\r\ntwo\r\n")
		if got != c.want || !exact || err != nil {
			t.Errorf("%s: %q, exact %v, %v", name, got, exact, err)
		}
	}
}
