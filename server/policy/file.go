package policy

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/policy/commandline"
)

// JudgeFile decides about a call by a policy file. Deny and Ask match the possible meaning of a
// call, Allow only its certain meaning: no part of it is outside of the directory, hidden, or
// another command. A call of which it is not known whether Deny matches is asked.
func JudgeFile(f *protocol.PolicyFile, c *Call) Ruling {
	if c.Plan || c.Question {
		return asked(f)
	}
	asks := false
	line := c.line()
	files := sync.OnceValue(func() *namedFiles { return namesOf(c, line) })
	for i := range f.Deny {
		switch may(&f.Deny[i], c, line, files) {
		case commandline.Yes:
			return Ruling{Action: Refuse, Reason: fmt.Sprintf("deny[%d] of the policy file %s", i, f.Name)}
		case commandline.Maybe:
			asks = true
		}
	}
	for i := range f.Ask {
		asks = asks || may(&f.Ask[i], c, line, files) != commandline.No
	}
	if asks {
		return asked(f)
	}
	if i := allowing(f.Allow, c); i >= 0 {
		return Ruling{Action: Allow, Reason: fmt.Sprintf("allow[%d] of the policy file %s", i, f.Name)}
	}
	r := asked(f)
	r.Note = narrowed(f, c)
	return r
}

// narrowed describes the rule that names what a call does and does not allow it: a pattern that
// matches a protected file, or the first words of a command of the line, after which earlier versions
// took any arguments.
func narrowed(f *protocol.PolicyFile, c *Call) string {
	for _, file := range c.Protected {
		for i := range f.Allow {
			if r := &f.Allow[i]; !r.Exact && r.Path != "" && matchPath(r.Path, file) {
				return fmt.Sprintf("allow[%d] of the policy file %s does not cover %s, which is protected: a rule with "+
					"this path and exact does", i, f.Name, file)
			}
		}
	}
	commands, ok := commandline.Literal(c.Line)
	if !ok || c.Kind != protocol.ToolExecute || c.Opaque {
		return ""
	}
	for _, words := range commands {
		for i := range f.Allow {
			r := &f.Allow[i]
			names := r.Program != "" && (r.Tool == "" || r.Tool == c.Tool) && begins(r, words)
			if names && !runs(r, words, c.contained) {
				return fmt.Sprintf("allow[%d] of the policy file %s covers %s only where it neither runs another program "+
					"nor writes elsewhere: to allow more, name it in the subcommand of a rule", i, f.Name, r.Program)
			}
		}
	}
	return ""
}

// contained reports whether a path is in the directory of the session.
func (c *Call) contained(path string) bool { return insideOf(path, cmp.Or(c.Start, c.Dir), c.Dir) }

// line returns what a command runs. Of a call that is more than a command, any word may run.
func (c *Call) line() *commandline.Line {
	switch {
	case c.Kind != protocol.ToolExecute:
		return &commandline.Line{}
	case c.Line != "" || c.Start != "":
		return commandline.Read(c.Text, filepath.ToSlash(cmp.Or(c.Start, c.Dir)))
	}
	return commandline.ReadText(c.Text)
}

// asked returns the ruling about a call that a user decides, if there is time for it.
func asked(f *protocol.PolicyFile) Ruling {
	if d, set := FileTimeout(f); set && d == 0 {
		return Ruling{Action: Refuse, Reason: "nothing of the policy file " + f.Name +
			" allows it, and no user is asked"}
	}
	return Ruling{Action: AskUser}
}

// FileTimeout returns the time that users have to decide a request.
func FileTimeout(f *protocol.PolicyFile) (d time.Duration, set bool) {
	d, err := time.ParseDuration(f.Timeout)
	return d, err == nil
}

// may returns whether a rule matches a call that runs a line and names files. Case is ignored.
func may(r *protocol.PolicyRule, c *Call, line *commandline.Line, files func() *namedFiles) commandline.Match {
	if r.Tool != "" && !strings.EqualFold(r.Tool, c.Tool) {
		return commandline.No
	}
	m := commandline.Yes
	if r.Program != "" {
		m = line.Runs(r.Program, strings.Fields(r.Subcommand))
		if m == commandline.No && c.Kind == protocol.ToolExecute && runsLink(line, r.Program) {
			m = commandline.Maybe
		}
	}
	if r.Path != "" {
		m = min(m, files().match(r.Path))
	}
	return m
}

// allowing returns the index of the last rule that was needed to allow a call, or -1. Every command
// of a line, and every file, needs a rule.
func allowing(rules []protocol.PolicyRule, c *Call) int {
	contained := c.Contained || len(c.Protected) > 0
	if c.Opaque || c.Kind == protocol.ToolEdit && !contained || c.Kind == protocol.ToolExecute && c.Line == "" {
		return -1
	}
	find := func(match func(r *protocol.PolicyRule) bool) int {
		return slices.IndexFunc(rules, func(r protocol.PolicyRule) bool {
			return (r.Tool == "" || r.Tool == c.Tool) && match(&r)
		})
	}
	last := -1
	for _, file := range c.Protected {
		if last = find(func(r *protocol.PolicyRule) bool { return r.Program == "" && r.Exact && r.Path == file }); last < 0 {
			return -1
		}
	}
	if i := find(func(r *protocol.PolicyRule) bool { return r.Program == "" && r.Path == "" }); i >= 0 {
		return i
	}
	switch {
	case c.Kind == protocol.ToolExecute:
		last = allowingLine(c, find)
	case contained:
		for _, file := range c.Files {
			matches := func(r *protocol.PolicyRule) bool { return r.Program == "" && matchPath(r.Path, file) }
			if last = find(matches); last < 0 {
				return -1
			}
		}
	}
	return last
}

// allowingLine returns the index of the last rule that was needed to allow the commands of a line,
// or -1. find returns the index of the first rule that matches.
func allowingLine(c *Call, find func(match func(r *protocol.PolicyRule) bool) int) int {
	commands, ok := commandline.Literal(c.Line)
	if !ok {
		return -1
	}
	last, dirs := -1, []string{cmp.Or(c.Start, c.Dir)}
	contained := func(path string) bool {
		return !slices.ContainsFunc(dirs, func(dir string) bool { return !insideOf(path, dir, c.Dir) })
	}
	for _, words := range commands {
		matches := func(r *protocol.PolicyRule) bool { return r.Path == "" && runs(r, words, contained) }
		if last = find(matches); last < 0 {
			return -1
		}
		if words[0] == "cd" {
			if len(words) != 2 || words[1] == "-" || !contained(words[1]) {
				return -1
			}
			for _, dir := range dirs {
				dirs = append(dirs, filepath.Join(dir, words[1]))
			}
		}
		if len(dirs) > maxDirs {
			return -1
		}
	}
	return last
}

// maxDirs bounds the directories in which the commands of a line may run.
const maxDirs = 64

// runs reports whether words are the command of a rule, and do nothing else. A command with an
// assignment is not. contained reports whether a path is in the directory of the session.
func runs(r *protocol.PolicyRule, words []string, contained func(path string) bool) bool {
	return begins(r, words) && commandline.Plain(words, len(ruleWords(r)), contained)
}

// begins reports whether a command begins with the words of a rule.
func begins(r *protocol.PolicyRule, words []string) bool {
	want := ruleWords(r)
	if strings.Contains(words[0], "=") || len(words) < len(want) || r.Exact && len(words) > len(want) {
		return false
	}
	return slices.Equal(words[:len(want)], want)
}

func ruleWords(r *protocol.PolicyRule) []string {
	return append([]string{r.Program}, strings.Fields(r.Subcommand)...)
}

// matchPath reports whether a path matches: * and ? match within an element, ** any elements.
func matchPath(pattern, name string) bool {
	return matchElements(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchElements(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(name) + 1 {
				if matchElements(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
