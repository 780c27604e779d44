package requestcases

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"agentctl/protocol"
)

// A Case is a request of an agent.
type Case struct {
	Name  string
	Kind  string
	Tool  string // its name
	Title string
	Input string // as the agent sends it; empty: none
	Diffs []protocol.Content
	Paths []string // the places that the agent works at

	Shows   []string // texts that hold all that runs
	Command string   // if it is shown as a command
	CWD     string   // if it is not the session's
	Changes string   // the file that a patch changes, if it is not the one that it names
	Rule    bool     // whether it can be allowed always
	Same    string   // name of the case that runs the same; empty: none before it
	Reads   bool     // whether it certainly only reads, in the directory of the session
}

// Group returns the name that the cases that run the same share.
func (c *Case) Group() string { return cmp.Or(c.Same, c.Name) }

// Approval returns the request as an agent in dir makes it of its arguments.
func (c *Case) Approval(dir string) protocol.Approval {
	a := protocol.Approval{
		Request: strings.ReplaceAll(c.Name, " ", "_"), Kind: c.Kind, Name: c.Tool, Title: c.Title,
		Command: c.Command, CWD: cmp.Or(c.CWD, dir), Content: c.Diffs, Paths: c.Paths,
	}
	if c.Input != "" {
		a.Input = json.RawMessage(c.Input)
	}
	return a
}

// All returns the cases for a working directory that Prepare has filled.
func All(dir string) []Case {
	var all []Case
	for _, cases := range [][]Case{commands(dir), words(), texts(), opaque(), numbers(), tools(), patches(dir)} {
		all = append(all, cases...)
	}
	for i := range all {
		c := &all[i]
		c.Title = cmp.Or(c.Title, "Look around")
		if len(c.Shows) == 0 && c.Command != "" {
			c.Shows = []string{c.Command}
		}
	}
	return all
}

// Prepare creates the files and links that the cases name.
func Prepare(dir string) error {
	for _, sub := range []string{"sub", "real"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	for link, target := range map[string]string{
		"link": "real", "out": filepath.Dir(dir), "dangling": "nothing", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			return err
		}
	}
	return nil
}

// plain is a request that is shown as a command.
func plain(name, input, command string) Case {
	return Case{Name: name, Kind: protocol.ApproveCommand, Input: input, Command: command, Rule: true}
}

// whole is a request to run a command that is shown as its arguments.
func whole(name, input string) Case {
	return Case{Name: name, Kind: protocol.ApproveCommand, Input: input, Shows: []string{input}, Rule: true}
}

// unclear is a request whose arguments can be read in more than one way.
func unclear(name, input string) Case {
	c := whole(name, input)
	c.Rule = false
	return c
}

func (c Case) same(as string) Case {
	c.Same = as
	return c
}

func (c Case) in(dir string) Case {
	c.CWD = dir
	c.Shows = append(c.Shows, dir)
	return c
}

func (c Case) shows(texts ...string) Case {
	c.Shows = append(c.Shows, texts...)
	return c
}

func (c Case) changes(path string) Case {
	c.Changes = path
	return c
}

func (c Case) only(texts ...string) Case {
	c.Shows = texts
	return c
}

// commands are commands with arguments beside them.
func commands(dir string) []Case {
	sub := filepath.Join(dir, "sub")
	return []Case{
		plain("a command", `{"command":"git status"}`, "git status"),
		plain("a description", `{"command":"git status","description":"look"}`, "git status").same("a command"),
		plain("another description", `{"reason":"see","command":"git status"}`, "git status").same("a command"),
		plain("white space", `{ "command" : "git status" }`, "git status").same("a command"),
		plain("an escaped name", `{"comm\u0061nd":"git status"}`, "git status").same("a command"),
		plain("an escaped text", `{"command":"git st\u0061tus"}`, "git status").same("a command"),
		plain("a null", `{"command":"git status","timeout":null}`, "git status").same("a command"),
		plain("the command as its only part", `{"command":"git status","commands":["git status"]}`, "git status").
			same("a command"),
		plain("the session's directory", `{"command":"git status","cwd":`+quote(dir)+`}`, "git status").
			same("a command"),
		plain("another directory", `{"command":"git status","cwd":`+quote(sub)+`}`, "git status").in(sub).
			shows("git status"),
		plain("a relative directory", `{"command":"git status","workdir":"sub"}`, "git status").in(sub).
			shows("git status").same("another directory"),
		whole("two directories", `{"command":"git status","cwd":`+quote(dir)+`,"workdir":"/etc"}`),
		unclear("a directory twice", `{"command":"git status","cwd":`+quote(dir)+`,"cwd":"/etc"}`),
		whole("a directory above", `{"command":"git status","cwd":"../.."}`).in(filepath.Dir(filepath.Dir(dir))),
		whole("a directory that is no text", `{"command":"git status","cwd":["/etc"]}`),
		whole("arguments beside it", `{"args":["status"],"command":"git"}`),
		whole("other arguments beside it", `{"args":["push","--force"],"command":"git"}`),
		plain("no arguments beside it", `{"command":"git"}`, "git"),
		whole("an environment", `{"command":"git status","env":{"GIT_DIR":"/a"}}`),
		whole("another environment", `{"command":"git status","env":{"GIT_DIR":"/b"}}`),
		whole("an empty environment", `{"command":"git status","env":{}}`),
		whole("input", `{"command":"git status","stdin":"rm -rf /"}`),
		whole("rights", `{"command":"git status","with_escalated_permissions":true}`),
		whole("no rights", `{"command":"git status","with_escalated_permissions":false}`),
		whole("a sandbox", `{"command":"git status","sandbox_permissions":"require_escalated"}`),
		whole("a field without a meaning", `{"command":"git status","x":1}`),
		whole("other parts", `{"command":"git status","commands":["rm -rf /"]}`),
		whole("a part of it as its part", `{"command":"git status","commands":["git"]}`),
		whole("a description that is not a text", `{"command":"git status","description":["rm"]}`),
		plain("in the background", `{"command":"git status","is_background":true}`, "git status").
			shows("is_background: true", "git status"),
		whole("another name", `{"cmd":"git status"}`),
		whole("another case", `{"Command":"git status"}`),
		unclear("both cases", `{"command":"git status","Command":"rm -rf /"}`),
		unclear("both cases in Unicode", `{"command":"git status","wor\u212adir":"/etc","workdir":"/"}`),
		unclear("the name twice", `{"command":"git status","command":"rm -rf /"}`),
		unclear("the name twice, escaped", `{"command":"rm -rf /","comm\u0061nd":"git status"}`),
		{Name: "a title alone", Kind: protocol.ApproveCommand, Title: "git status", Shows: []string{"git status"}},
		whole("a title that is a command", `{"script":"rm -rf /"}`).titled("git status"),
		whole("a title in lines", `{"script":"rm -rf /tmp"}`).titled("Run\n$ git status\nin " + dir),
	}
}

func (c Case) titled(title string) Case {
	c.Title = title
	return c
}

// words are commands as words, and shells.
func words() []Case {
	return []Case{
		plain("words", `{"command":["git","status"]}`, "git status"),
		plain("a word with a space", `{"command":["git","status x"]}`, "git 'status x'"),
		plain("three words", `{"command":["git","status","x"]}`, "git status x"),
		plain("an empty word", `{"command":["git","status",""]}`, "git status ''"),
		plain("a word of two lines", `{"command":["git","status\nrm"]}`, "git 'status\nrm'"),
		plain("a quote in a word", `{"command":["echo","it's"]}`, `echo 'it'\''s'`),
		plain("an assignment as a program", `{"command":["A=b","git"]}`, `'A=b' git`),
		whole("no words", `{"command":[]}`),
		whole("a number as a word", `{"command":["git",1]}`),
		whole("a null as a word", `{"command":["git",null]}`),
		whole("words in words", `{"command":["git",["status"]]}`),
		whole("a number", `{"command":7}`),
		whole("an empty command", `{"command":""}`),
		whole("a blank command", `{"command":" \n"}`),
		plain("ls", `{"command":"ls"}`, "ls"),
		plain("bash", `{"command":["bash","-c","ls"]}`, "ls"),
		plain("a login bash", `{"command":["bash","-lc","ls"]}`, "ls"),
		plain("sh", `{"command":["sh","-c","ls"]}`, "ls"),
		plain("bash by its path", `{"command":["/bin/bash","-lc","ls"]}`, "ls"),
		plain("bash elsewhere", `{"command":["/tmp/bash","-lc","ls"]}`, "/tmp/bash -lc ls"),
		plain("bash here", `{"command":["./bash","-c","ls"]}`, "./bash -c ls"),
		plain("a program that ends like a shell", `{"command":["./evil.sh","-c","ls"]}`, "./evil.sh -c ls"),
		plain("another shell", `{"command":["fish","-c","ls"]}`, "fish -c ls"),
		plain("a shell in capitals", `{"command":["BASH","-c","ls"]}`, "BASH -c ls"),
		plain("a shell with more", `{"command":["bash","-c","ls","x"]}`, "bash -c ls x"),
		plain("a shell with another option", `{"command":["bash","-xc","ls"]}`, "bash -xc ls"),
		plain("a shell for nothing", `{"command":["bash","-c",""]}`, "bash -c ''"),
		plain("a shell in text", `{"command":"bash -c ls"}`, "bash -c ls"),
	}
}

// texts are commands whose text is not as it seems.
func texts() []Case {
	long := "echo " + strings.Repeat("x", 300)
	return []Case{
		plain("two spaces", `{"command":"git  status"}`, "git  status"),
		plain("a tab", `{"command":"git\tstatus"}`, "git\tstatus"),
		plain("two lines", `{"command":"git status\nrm -rf /"}`, "git status\nrm -rf /"),
		plain("a line like a directory", `{"command":"git status\nin /safe"}`, "git status\nin /safe"),
		plain("a last line", `{"command":"git status\n"}`, "git status\n"),
		plain("a carriage return", `{"command":"rm -rf /\rgit status"}`, "rm -rf /\rgit status"),
		plain("a NUL", `{"command":"git status\u0000"}`, "git status\x00"),
		plain("an escape sequence", `{"command":"git status\u001b[2K"}`, "git status\x1b[2K"),
		plain("look-alike letters", `{"command":"git ѕtatus"}`, "git ѕtatus"),
		plain("a change of direction", `{"command":"git \u202estatus"}`, "git \u202estatus"),
		plain("a space of no width", `{"command":"git\u200b status"}`, "git\u200b status"),
		plain("a decomposed letter", `{"command":"ls e\u0301"}`, "ls e\u0301"),
		plain("a composed letter", `{"command":"ls \u00e9"}`, "ls \u00e9"),
		plain("a long command", `{"command":"`+long+`; rm -rf /"}`, long+"; rm -rf /"),
		plain("another long command", `{"command":"`+long+`; git status"}`, long+"; git status"),
	}
}

// opaque are arguments that decoders can read in different ways.
func opaque() []Case {
	deep := strings.Repeat("[", 90) + strings.Repeat("]", 90)
	return []Case{
		unclear("bytes that are not UTF-8", "{\"command\":\"git \xff\"}"),
		unclear("other bytes that are not UTF-8", "{\"command\":\"git \xfe\"}"),
		unclear("half a surrogate pair", `{"command":"git \ud800"}`),
		unclear("another half", `{"command":"git \udc00"}`),
		unclear("a replacement character", `{"command":"git \ufffd"}`),
		unclear("a name twice in an object", `{"command":"git status","o":{"a":1,"a":2}}`),
		unclear("both cases in an object", `{"command":"git status","o":[{"a":1,"A":2}]}`),
		unclear("deep lists", `{"command":"git status","o":`+deep+`}`),
		unclear("a list", `["git","status"]`),
		unclear("a text", `"git status"`),
	}
}

// numbers are arguments with numbers that some decoders make equal.
func numbers() []Case {
	var all []Case
	for _, n := range []string{
		"1", "1.0", "1e0", "1000", "1e400", "1e401", "-0", "0", "9007199254740993", "9007199254740992",
	} {
		all = append(all,
			plain("timeout "+n, `{"command":"git status","timeout":`+n+`}`, "git status").
				shows("timeout: "+n, "git status"),
			whole("a number "+n, `{"command":"git status","n":`+n+`}`))
	}
	return append(all,
		whole("a timeout that is no number", `{"command":"git status","timeout":"NaN"}`),
		whole("an object", `{"command":"git status","o":{"a":{"b":1}}}`),
		whole("another object", `{"command":"git status","o":{"a":{"b":2}}}`))
}

// tools are uses of other tools.
func tools() []Case {
	use := func(name, tool, input string) Case {
		return Case{
			Name: name, Kind: protocol.ApproveTool, Tool: tool, Input: input, Shows: []string{input},
			Rule: tool != "" && input != "",
		}
	}
	return []Case{
		use("a tool", "fetch", `{"url":"https://a"}`),
		use("a tool with other arguments", "fetch", `{"url":"https://b"}`),
		use("a tool with more arguments", "fetch", `{"headers":{"Authorization":"x"},"url":"https://a"}`),
		use("another tool", "open", `{"url":"https://a"}`),
		use("a tool with a command", "fetch", `{"command":"git status"}`).only("git status"),
		use("a tool without a name", "", `{"url":"https://a"}`),
		use("a tool without arguments", "fetch", ""),
		use("a tool with lines in its arguments", "fetch", `{"url":"https://a\nurl: https://b"}`),
	}
}

// patches are changes of files.
func patches(dir string) []Case {
	old := "a\n"
	change := func(name, input string, rule bool, diffs ...string) Case {
		c := Case{Name: name, Kind: protocol.ApprovePatch, Input: input, Rule: rule}
		for _, path := range diffs {
			c.Diffs = append(c.Diffs, protocol.Content{Type: "diff", Path: path, Old: &old, New: "b\n"})
			c.Shows = append(c.Shows, filepath.Base(path))
		}
		return c
	}
	a, b := filepath.Join(dir, "a.go"), filepath.Join(dir, "b.go")
	return []Case{
		change("a change", "", true, a),
		change("a change by its arguments too",
			`{"file_path":`+quote(a)+`,"old_string":"a\n","new_string":"b\n"}`, true, a).same("a change"),
		change("a change by a relative path", "", true, "a.go").same("a change"),
		change("a change by a longer path", "", true, "sub/../a.go").same("a change"),
		change("a change of another file", "", true, b),
		change("a change of two files", "", true, a, b),
		change("a file in the arguments", `{"path":`+quote(b)+`}`, true, a).shows("b.go").same("a change of two files"),
		change("a file in a separate field", `{"also":`+quote(b)+`}`, false, a).shows(b),
		change("other text in the arguments", `{"content":"evil","path":`+quote(a)+`}`, false, a).shows("evil"),
		change("a change through a link", "", true, "link/c.go").changes(filepath.Join(dir, "real/c.go")),
		change("a change of the target", "", true, "real/c.go").same("a change through a link"),
		change("a change outside", "", false, "../x.go").changes(filepath.Join(filepath.Dir(dir), "x.go")),
		change("a change outside by a link", "", false, "out/x.go").changes(filepath.Join(filepath.Dir(dir), "x.go")),
		change("a change of a system file", "", false, "/etc/passwd"),
		change("a change by a link to nothing", "", false, "dangling"),
		change("a change by a loop", "", false, "loop/x"),
		{Name: "a place alone", Kind: protocol.ApprovePatch, Paths: []string{a}, Shows: []string{"a.go"}},
	}
}

func quote(s string) string { return string(protocol.AppendString(nil, s)) }
