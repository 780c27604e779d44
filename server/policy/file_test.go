package policy

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

const ciFile = `{
  "deny": [{"program": "rm"}, {"program": "git", "subcommand": "push"}, {"path": "**/.env"}, {"tool": "WebFetch"}],
  "ask": [{"path": "go.mod"}],
  "allow": [
    {"program": "go", "subcommand": "test"}, {"program": "git", "subcommand": "status", "exact": true},
    {"program": "wc"}, {"path": "src/**"}, {"path": "docs/*.md"}, {"tool": "TodoWrite"}
  ],
  "timeout": "5m"
}`

func command(line string) Call {
	return Call{Kind: protocol.ToolExecute, Dir: "/w", Line: line, Text: line}
}

func edit(contained bool, files ...string) Call {
	return Call{Kind: protocol.ToolEdit, Contained: contained, Dir: "/w", Files: files}
}

func TestAPolicyFileDecides(t *testing.T) {
	f, err := ParseFile("ci.json", []byte(ciFile))
	if err != nil {
		t.Fatal(err)
	}
	opaque := command("go test ./...")
	opaque.Opaque = true
	outside := command("go test ./...")
	outside.Line = ""
	tool := func(name string) Call { return Call{Kind: protocol.ToolOther, Tool: name} }
	for _, c := range []struct {
		name string
		call Call
		want Action
	}{
		{"a command", command("go test ./..."), Allow},
		{"a command with quotes", command(`go test -run 'A|B$' "./..."`), Allow},
		{"its output", command("go test ./... 2>&1 | wc -l"), Allow},
		{"an exact command", command("git status"), Allow},
		{"an exact command with more", command("git status -s"), AskUser},
		{"an option before the subcommand", command("go -C /etc test"), AskUser},
		{"another subcommand", command("go testx"), AskUser},
		{"another program", command("golang test"), AskUser},
		{"a program by its path", command("./go test"), AskUser},
		{"a program in another case", command("GO test"), AskUser},
		{"a second command", command("go test && make"), AskUser},
		{"a second line", command("go test\nmake"), AskUser},
		{"a command in the background", command("go test & make"), AskUser},
		{"a substitution", command("go test $(make)"), AskUser},
		{"a substitution in backticks", command("go test `make`"), AskUser},
		{"a substitution in quotes", command(`go test "$(make)"`), AskUser},
		{"a redirection", command("go test > /etc/passwd"), AskUser},
		{"a redirection beside another", command("go test 2>&1 >/etc/passwd"), AskUser},
		{"a redirection that begins like one", command("go test 2>/dev/null/../x"), AskUser},
		{"a process", command("go test <(make)"), AskUser},
		{"an assignment", command("PATH=/tmp go test"), AskUser},
		{"a comment", command("go test # x"), AskUser},
		{"an escape", command(`go test \; make`), AskUser},
		{"a variable", command("go test $X"), AskUser},
		{"a home directory", command("go test ~root"), AskUser},
		{"a glob", command("go test *"), AskUser},
		{"an open quote", command("go test 'x"), AskUser},
		{"a look-alike letter", command("gо test"), AskUser},
		{"a carriage return", command("go test\rmake"), AskUser},
		{"nothing before a separator", command("; go test"), AskUser},
		{"arguments that can be read in two ways", opaque, AskUser},
		{"another directory", outside, AskUser},

		{"a denied program", command("rm -rf x"), Refuse},
		{"a denied program by its path", command("/bin/rm x"), Refuse},
		{"a denied program as the second", command("go test; rm x"), Refuse},
		{"a denied program in a wrapper", command("sudo -u root rm x"), Refuse},
		{"a denied program in a shell", command(`bash -c "rm -rf x"`), Refuse},
		{"a denied program after an assignment", command("A=b rm x"), Refuse},
		{"a denied program in a substitution", command("go test $(rm x)"), Refuse},
		{"a denied program after a line break", command("ls\nrm x"), Refuse},
		{"a word like a denied program", command("git add rm"), AskUser},
		{"a denied subcommand", command("git -C x push"), Refuse},
		{"a denied path in a command", command("cat ./sub/.env"), Refuse},
		{"a denied path in another case", command("cat sub/.ENV"), Refuse},

		{"an edit", edit(true, "src/a.go", "docs/x.md"), Allow},
		{"an edit of no rule", edit(true, "src/a.go", "Makefile"), AskUser},
		{"an edit deeper than the pattern", edit(true, "docs/a/x.md"), AskUser},
		{"an edit that is asked", edit(true, "go.mod"), AskUser},
		{"an edit that is not certain", edit(false, "src/a.go"), AskUser},
		{"an edit of no file", edit(true), AskUser},
		{"an edit of a denied file", edit(true, "src/.env"), Refuse},
		{"an edit of a denied file that is not certain", edit(false, "/w/src/.env"), Refuse},

		{"a tool", tool("TodoWrite"), Allow},
		{"a denied tool", tool("webfetch"), Refuse},
		{"another tool", tool("todowrite"), AskUser},
		{"a plan", Call{Plan: true, Tool: "TodoWrite"}, AskUser},
		{"a question", Call{Question: true, Tool: "TodoWrite"}, AskUser},
	} {
		if r := JudgeFile(f, &c.call); r.Action != c.want || (r.Action == AskUser) != (r.Reason == "") {
			t.Errorf("%s: %+v, want %v", c.name, r, c.want)
		}
	}
	f.Timeout = "0s"
	call := command("make")
	if r := JudgeFile(f, &call); r.Action != Refuse {
		t.Errorf("without time to decide: %+v", r)
	}
}

// A rule for a tool alone allows neither an edit outside nor a command whose arguments do not show
// all of it.
func TestAToolAllowsOnlyWhatIsCertain(t *testing.T) {
	f := &protocol.PolicyFile{Allow: []protocol.PolicyRule{{Tool: "do"}}}
	for _, c := range []struct {
		call Call
		want Action
	}{{command("make"), Allow}, {edit(true, "a"), Allow}, {edit(false, "/etc/a"), AskUser}, {Call{
		Kind: protocol.ToolExecute,
	}, AskUser}} {
		c.call.Tool = "do"
		if r := JudgeFile(f, &c.call); r.Action != c.want {
			t.Errorf("%+v: %+v", c.call, r)
		}
	}
}

func TestAnInvalidPolicyFileTellsLineAndField(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "line 1: not JSON",
		`[]`:                        "line 1: want {",
		"{\n\"alow\": []}":          "line 2: alow: unknown field",
		"{\n\n\"timeout\": 5}":      "line 3: timeout: want a text",
		"{\n\"timeout\": \"soon\"}": `line 2: timeout: invalid value "soon"`,
		`{"timeout": "-1s"}`:        "timeout: invalid value",
		"{\"deny\": [\n{\"program\":\"a\"},\n{}]}": "line 3: deny[1]: want tool, program or path",
		`{"deny": {}}`:                                   "line 1: want [",
		`{"deny": [], "deny": []}`:                       "deny: the field is there twice",
		`{"deny": []} {}`:                                "text follows",
		`{"ask": [{"tool": "a", "toll": "b"}]}`:          "ask[0]: ",
		`{"ask": [{"program": "a", "Program": "b"}]}`:    "ask[0]: ",
		`{"ask": [{"program": "git push"}]}`:             "ask[0].program: \"git push\" is not one word",
		`{"ask": [{"subcommand": "push", "tool": "a"}]}`: "ask[0].program: a subcommand needs",
		`{"ask": [{"program": "a", "path": "b"}]}`:       "ask[0].path: ",
		"{\"allow\": [\n{\"path\": \"/etc/*\"}]}":        "line 2: allow[0].path: \"/etc/*\" is not in the directory",
		`{"allow": [{"path": "../*"}]}`:                  "allow[0].path: ",
		`{"deny": [{"path": "a", "exact": true}]}`:       "deny[0].exact: only a rule of a program, or a path in allow",
		`{"deny": [{"tool": "a", "exact": true}]}`:       "deny[0].exact: ",
		`{"allow": [{"tool": "a", "exact": true}]}`:      "allow[0].exact: want the path of one file",
		`{"allow": [{"path": "*", "exact": true}]}`:      "allow[0].exact: want the path of one file",
		`{"allow": [{"path": "./a", "exact": true}]}`:    "allow[0].exact: ",
		`{"allow": [{"path": "a/..", "exact": true}]}`:   "allow[0].exact: ",
		`{"allow": [{"path": "a/", "exact": true}]}`:     "allow[0].exact: ",
		`{"allow": [{"path": "[a"}]}`:                    "allow[0].path: invalid pattern",
		`{"allow": [{"program": "*"}]}`:                  "allow[0].program: * allows everything",
		`{"allow": [{"tool": "a"}`:                       "line 1: ",
	} {
		_, err := ParseFile("x.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestNoRuleAllowsAnAssignment(t *testing.T) {
	f, err := ParseFile("x", []byte(`{"allow": [{"program": "A=b"}, {"program": "make"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Action{
		`make`: Allow, `A=b make`: AskUser, `'A=b' make`: AskUser,
		`A=b`: AskUser,
	} {
		call := command(line)
		if r := JudgeFile(f, &call); r.Action != want {
			t.Errorf("%s: %+v, want %v", line, r, want)
		}
	}
}

func BenchmarkJudgeFile(b *testing.B) {
	f := &protocol.PolicyFile{
		Deny:  append(programRules("rm", "git push", "curl"), protocol.PolicyRule{Path: "**/.env"}),
		Allow: programRules("cd", "go", "tail"),
	}
	call := command("cd server && go test -run 'TestX|TestY' ./... 2>&1 | tail -20")
	call.Dir = b.TempDir()
	for b.Loop() {
		if r := JudgeFile(f, &call); r.Action != Allow {
			b.Fatal(r)
		}
	}
}

// A long line is judged in bounded time.
func TestALongLineIsJudged(t *testing.T) {
	f := &protocol.PolicyFile{Deny: append(programRules("rm", "git push"), protocol.PolicyRule{Path: "**/.env"})}
	for range 100 {
		f.Deny = append(f.Deny, protocol.PolicyRule{Path: "a/**/b*/*.pem"})
	}
	for _, line := range []string{
		"cat " + strings.Repeat("a/b ", 1<<16), strings.Repeat("cat a | ", 1<<14) + "b", strings.Repeat("git x y; ",
			1<<14) + "b",
		"git " + strings.Repeat("a ", 1<<16), strings.Repeat("cd a; ", 1<<14) + "b", "nix " + strings.Repeat("git ",
			1<<14),
	} {
		call := command(line)
		began := time.Now()
		JudgeFile(f, &call)
		if d := time.Since(began); d > 30*time.Second {
			t.Errorf("%.20s: judged in %s", line, d)
		} else {
			t.Logf("%.20s: %s", line, d)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(ciFile), "go test ./...")
	f.Add([]byte(`{"allow":[{"program":"a"}]}`), "a 'b' && a")
	f.Fuzz(func(t *testing.T, text []byte, line string) {
		file, err := ParseFile("x", text)
		if err != nil {
			return
		}
		call := command(line)
		if r := JudgeFile(file, &call); r.Action == Allow && strings.ContainsAny(line, "\n\r\x00$`\\\x1b") &&
			!strings.ContainsRune(line, '\'') {
			t.Errorf("%q is allowed: %+v", line, r)
		}
	})
}
