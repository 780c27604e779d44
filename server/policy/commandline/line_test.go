package commandline

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A reader takes any line, in bounded time.
func TestLargeAndNestedLinesAreRead(t *testing.T) {
	for name, line := range map[string]string{
		"a long pipe":        strings.Repeat("a | ", 1<<14) + "a",
		"a long list":        strings.Repeat("rm; ", 1<<14) + "a",
		"substitutions":      strings.Repeat("$(", 100) + "a" + strings.Repeat(")", 100),
		"loops":              strings.Repeat("while cd a; do ", 40) + "a" + strings.Repeat("; done", 40),
		"loops of variables": strings.Repeat("for i in a; do X=a; ", 40) + "$X" + strings.Repeat("; done", 40),
		"braces":             "a " + strings.Repeat("{a,b}", 100),
		"a sequence":         "a {1..100000000}",
		"wrappers":           strings.Repeat("nix ", 2000) + "rm",
		"unknown wrappers":   strings.Repeat("$X ", 2000) + "rm",
		"evals":              strings.Repeat("eval ", 1000) + "rm",
		"many words":         "cat " + strings.Repeat("a ", 1<<16),
		"variables":          strings.Repeat("CC=", 2000) + "rm",
		"settings":           "make " + strings.Repeat("CC=", 2000) + "rm",
		"shells":             strings.Repeat("sh -c \"", 11) + "rm",
		"code":               "python3 -c '" + strings.Repeat(`system("a")`, 5000) + "'",
	} {
		began := time.Now()
		l := Read(line, "/w")
		if m := l.Runs("rm", nil); strings.Contains(line, "rm") && m == No {
			t.Errorf("%s: it may run rm", name)
		}
		if d := time.Since(began); d > 30*time.Second {
			t.Errorf("%s: read in %s", name, d)
		}
	}
}

func TestDirectoriesOfACommand(t *testing.T) {
	const any = unknownText
	for line, want := range map[string][]string{
		"a":                           {"/w"},
		"cd s && a":                   {"/w/s"},
		"cd s; a":                     {"/w", "/w/s"},
		"cd s || a":                   {"/w", "/w/s"},
		"cd ..; cd s && a":            {"/w/s", "/s"},
		"cd /x && cd .. && a":         {"/"},
		"(cd s); a":                   {"/w"},
		"cd s | b; a":                 {"/w"},
		"echo $(cd s); a":             {"/w"},
		"cd $X && a":                  {any},
		"cd && a":                     {any},
		"cd - && a":                   {any},
		"cd ~/s && a":                 {any},
		"if cd s; then a; fi":         {"/w/s"},
		"if x; then cd s; fi; a":      {"/w", "/w/s"},
		"if cd s; then b; else a; fi": {"/w", "/w/s"},
		"while x; do a; cd s; done":   {any, "/w"},
		"f() { a; }; f":               {any, "/w"},
		"{ cd s && b; } && a":         {"/w/s"},
		"cd s && (cd t && a)":         {"/w/s/t"},
		"cd s & a":                    {"/w", "/w/s"},
		"cd -- s && a":                {"/w/s"},
		"pushd s && a":                {"/w/s"},
		"popd && a":                   {any},
		"echo $(cd s && a)":           {"/w/s"},
		"cat <(cd s && a)":            {"/w/s"},
		"sudo sh -c 'cd s && a'":      {"/w/s"},
		"case x in x) cd s;; esac; a": {"/w", "/w/s"},
	} {
		var got []string
		for _, r := range Read(line, "/w").Commands {
			if r.Words[0].Text == "a" {
				got = append(got, r.Dirs...)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Any line is read: literal commands run, and a command before it.
func FuzzRead(f *testing.F) {
	for _, line := range []string{
		"for f in a; do rm $f; done", `r\m "x"`, "git -c alias.p='!rm' p", "find . -exec rm {} +",
		"cat <<E | sh\nrm x\nE",
		"X=rm; if a; then $X; fi", "tar xfI a 'rm x'", "sed 's/a/b/e;w x' f",
		"a[$(rm)]=1 {a..z} {a,b}{c,d} ${X:=y} <(rm) =ls",
		"fish -c 'if true; rm x; end'", "awk '{print | \"rm\"}'", "cd a && cd $B; env -S 'a b' --unknown",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := Read(line, "/w")
		for i := range l.Commands {
			if len(l.Commands[i].Words) == 0 {
				t.Fatalf("%q: a command without words", line)
			}
		}
		for f := range l.Files() {
			f.Names()
		}
		if Read("rm x\n"+line, "/w").Runs("rm", nil) == No {
			t.Errorf("%q: the line before it does not run", line)
		}
		commands, ok := Literal(line)
		if !ok {
			return
		}
		for _, c := range commands {
			Plain(c, 1, func(string) bool { return true })
			if !strings.Contains(c[0], "=") && l.Runs(c[0], nil) != Yes {
				t.Errorf("%q does not run %q", line, c[0])
			}
		}
	})
}
