package commandline

import (
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

func TestCommandsOfALineAreLiteral(t *testing.T) {
	for line, want := range map[string][][]string{
		`git status`:                    {{"git", "status"}},
		`  go test ./... `:              {{"go", "test", "./..."}},
		`a && b || c; d | e`:            {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}},
		`a;b|c&&d`:                      {{"a"}, {"b"}, {"c"}, {"d"}},
		`r'm' "x y"z ''`:                {{"rm", "x yz", ""}},
		`echo '$(x) \ "' "it's #; &&"`:  {{"echo", `$(x) \ "`, "it's #; &&"}},
		`go test 2>&1 | wc`:             {{"go", "test"}, {"wc"}},
		`2>/dev/null ls >/dev/null; ls`: {{"ls"}, {"ls"}},
		`A=b make`:                      {{"A=b", "make"}},
		`A= make B=c`:                   {{"A=", "make", "B=c"}},
		`'A=b' make`:                    {{"A=b", "make"}},
		`time export let`:               {{"time", "export", "let"}},
		`grep if`:                       {{"grep", "if"}},

		// Programs that are not in the line.
		`ls $X`: nil, `ls "$X"`: nil, "ls `x`": nil, `ls $(x)`: nil, `ls <(x)`: nil, `ls $'x'`: nil,
		`ls *`: nil, `ls [a]`: nil, `ls ?`: nil, `ls {a,b}`: nil, `ls ~`: nil, `ls !x`: nil, `ls "!x"`: nil,
		`ls =x`: nil, `ls \x`: nil, `ls "\x"`: nil, `ls é`: nil, `ls 'é'`: nil, "ls \x00": nil, "ls 'a\nb'": nil,
		"ls\nx": nil, "ls\tx": nil, "ls\rx": nil,
		// Other commands than simple ones.
		`ls &`: nil, `ls & ls`: nil, `ls |& ls`: nil, `! ls`: nil, `(ls)`: nil, `{ ls; }`: nil, `f() { ls; }`: nil,
		`if ls; then ls; fi`: nil, `for i in a; do ls; done`: nil, `while ls; do ls; done`: nil, `[[ a ]]`: nil,
		// Files.
		`ls > x`: nil, `ls >/dev/null/x`: nil, `ls > /dev/null`: nil, `ls < x`: nil, `ls << x`: nil, `ls 1>&2`: nil,
		`ls>/dev/null`: nil, `ls 2>&1>/dev/null`: nil, `>/dev/null`: nil,
		// Not whole.
		``: nil, ` `: nil, `;`: nil, `ls;`: nil, `; ls`: nil, `ls &&`: nil, `ls ;; ls`: nil, `ls 'x`: nil, `ls "x`: nil,
		`ls # x`: nil, `# x`: nil, `fi`: nil, `then ls`: nil,
	} {
		commands, ok := Literal(line)
		if ok != (want != nil) || !reflect.DeepEqual(commands, want) {
			t.Errorf("%q: %q, %v, want %q", line, commands, ok, want)
		}
	}
}

func TestALongLineIsRead(t *testing.T) {
	line := strings.Repeat("a | ", 1<<15) + "a"
	if commands, ok := Literal(line); !ok || len(commands) != 1<<15+1 {
		t.Errorf("%d commands", len(commands))
	}
}

// FuzzLiteral prints a literal line again: it has the same words, and a shell expands none
// of them.
func FuzzLiteral(f *testing.F) {
	for _, line := range []string{
		`git -C "a b" status 2>&1 | wc -l && x || y; 'z'`, `A=b make C=d`, `>/dev/null a 2>/dev/null`, `a ''"" 'b'c"d"`,
		`if a; then b; fi`, `a $b`, `a =b`, `a; # b`, `time a`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		commands, ok := Literal(line)
		if !ok {
			return
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
		if err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&printed, file); err != nil {
			t.Fatal(err)
		}
		again, ok := Literal(strings.TrimSuffix(printed.String(), "\n"))
		if !ok || !reflect.DeepEqual(again, commands) {
			t.Errorf("%q: %q, printed as %q: %q", line, commands, printed.String(), again)
		}
		var words []string
		syntax.Walk(file, func(n syntax.Node) bool {
			call, isCall := n.(*syntax.CallExpr)
			if !isCall {
				return true
			}
			for _, a := range call.Assigns {
				value, err := expand.Literal(nil, a.Value)
				if err != nil {
					t.Fatal(err)
				}
				words = append(words, a.Name.Value+"="+value)
			}
			fields, err := expand.Fields(nil, call.Args...)
			if err != nil {
				t.Fatal(err)
			}
			words = append(words, fields...)
			return false
		})
		var want []string
		for _, c := range commands {
			want = append(want, c...)
		}
		if !reflect.DeepEqual(words, want) {
			t.Errorf("%q: a shell reads %q, want %q", line, words, want)
		}
	})
}
