package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// JudgeFile decides about a call by a policy file. Deny and Ask match the possible meaning of a
// call, Allow only its certain meaning: no part of it is outside of the directory, hidden, or
// another command.
func JudgeFile(f *protocol.PolicyFile, c *Call) Ruling {
	if c.Plan || c.Question {
		return asked(f)
	}
	possible := possibleCommands(c.Text)
	for i := range f.Deny {
		if may(&f.Deny[i], c, possible) {
			return Ruling{Refuse, fmt.Sprintf("deny[%d] of the policy file %s", i, f.Name)}
		}
	}
	for i := range f.Ask {
		if may(&f.Ask[i], c, possible) {
			return asked(f)
		}
	}
	if i := allowing(f.Allow, c); i >= 0 {
		return Ruling{Allow, fmt.Sprintf("allow[%d] of the policy file %s", i, f.Name)}
	}
	return asked(f)
}

// asked returns the ruling about a call that a user decides, if there is time for it.
func asked(f *protocol.PolicyFile) Ruling {
	if d, set := FileTimeout(f); set && d == 0 {
		return Ruling{Refuse, "nothing of the policy file " + f.Name + " allows it, and no user is asked"}
	}
	return Ruling{Action: AskUser}
}

// FileTimeout returns the time that users have to decide a request.
func FileTimeout(f *protocol.PolicyFile) (d time.Duration, set bool) {
	d, err := time.ParseDuration(f.Timeout)
	return d, err == nil
}

// may reports whether a rule may match a call with possible commands. Case is ignored.
func may(r *protocol.PolicyRule, c *Call, possible [][]string) bool {
	if r.Tool != "" && !strings.EqualFold(r.Tool, c.Tool) {
		return false
	}
	if r.Program != "" &&
		(c.Kind != protocol.ToolExecute || !mayRun(possible, r.Program, strings.Fields(r.Subcommand))) {
		return false
	}
	if r.Path == "" {
		return true
	}
	pattern := strings.ToLower(r.Path)
	matches := func(name string) bool {
		name = strings.ToLower(path.Clean(name))
		inside, ok := strings.CutPrefix(name, strings.ToLower(strings.TrimSuffix(c.Dir, "/"))+"/")
		return matchPath(pattern, name) || ok && matchPath(pattern, inside)
	}
	return slices.ContainsFunc(c.Files, matches) || slices.ContainsFunc(names(c.Text), matches)
}

// allowing returns the index of the last rule that was needed to allow a call, or -1. Every command
// of a line, and every file, needs a rule.
func allowing(rules []protocol.PolicyRule, c *Call) int {
	if c.Opaque || c.Kind == protocol.ToolEdit && !c.Contained || c.Kind == protocol.ToolExecute && c.Line == "" {
		return -1
	}
	find := func(match func(r *protocol.PolicyRule) bool) int {
		return slices.IndexFunc(rules, func(r protocol.PolicyRule) bool {
			return (r.Tool == "" || r.Tool == c.Tool) && match(&r)
		})
	}
	if i := find(func(r *protocol.PolicyRule) bool { return r.Program == "" && r.Path == "" }); i >= 0 {
		return i
	}
	last := -1
	switch {
	case c.Kind == protocol.ToolExecute:
		commands, ok := literalCommands(c.Line)
		if !ok {
			return -1
		}
		for _, words := range commands {
			if last = find(func(r *protocol.PolicyRule) bool { return r.Path == "" && runs(r, words) }); last < 0 {
				return -1
			}
		}
	case c.Contained:
		for _, file := range c.Files {
			if last = find(func(r *protocol.PolicyRule) bool {
				return r.Program == "" && matchPath(r.Path, file)
			}); last < 0 {
				return -1
			}
		}
	}
	return last
}

// runs reports whether words are the command of a rule. A command with an assignment is not.
func runs(r *protocol.PolicyRule, words []string) bool {
	want := append([]string{r.Program}, strings.Fields(r.Subcommand)...)
	if strings.Contains(words[0], "=") || len(words) < len(want) || r.Exact && len(words) > len(want) {
		return false
	}
	return slices.Equal(words[:len(want)], want)
}

// matchPath reports whether a path matches a pattern: * and ? match within an element, ** any
// number of elements.
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
