package commandline

import (
	"path"
	"slices"
	"strings"
)

// A Match says whether a line runs a command.
type Match int

// The matches.
const (
	No Match = iota
	Maybe
	Yes
)

// same are the subcommands that do what another one does.
var same = map[string][]string{
	"git push": {
		"send-pack", "http-push", "subtree push", "svn dcommit", "p4 submit", "cvsexportcommit", "remote-ext",
		"remote-fd", "remote-http", "remote-https", "lfs push",
	},
	"git fetch":    {"fetch-pack", "http-fetch", "remote update", "pull"},
	"git commit":   {"commit-tree", "fast-import"},
	"git merge":    {"pull", "merge-recursive", "merge-ours", "merge-resolve", "merge-octopus", "merge-subtree"},
	"git add":      {"stage", "update-index"},
	"git rm":       {"update-index"},
	"git init":     {"init-db"},
	"git branch":   {"update-ref", "symbolic-ref"},
	"git tag":      {"update-ref", "mktag"},
	"git reset":    {"update-ref", "read-tree", "update-index"},
	"git checkout": {"switch", "restore", "checkout-index", "read-tree"},
	"git switch":   {"checkout"},
	"git restore":  {"checkout", "checkout-index"},
	"git rebase":   {"pull --rebase", "pull -r"},
	"npm run":      {"run-script"},
	"npm install":  {"i", "in", "add", "ci", "clean-install"},
	"npm test":     {"t", "tst"},
	"npm exec":     {"x"},
}

// Runs returns whether the line runs a program with the words of a subcommand; * is any program.
// Case is ignored.
func (l *Line) Runs(name string, sub []string) Match {
	best := No
	if l.Unread {
		best = Maybe
	}
	for i := range l.Commands {
		m := l.Commands[i].match(name, sub)
		if !l.Commands[i].Certain {
			m = min(m, Maybe)
		}
		if m == No && l.Commands[i].names(name) {
			m = Maybe
		}
		best = max(best, m)
	}
	return best
}

// match returns whether a command is a program with the words of a subcommand.
func (r *Run) match(name string, sub []string) Match {
	first := strings.TrimPrefix(r.Words[0].Text, "=")
	base := path.Base(first)
	switch {
	case name == "*", strings.EqualFold(base, name), strings.EqualFold(first, name),
		strings.EqualFold(strings.TrimSuffix(base, ".exe"), name):
		return r.has(name, sub)
	case strings.ContainsRune(base, Unknown):
		if len(sub) == 0 && may(strings.ToLower(base), strings.ToLower(name)) {
			return Yes
		}
		if len(sub) > 0 && may(strings.ToLower(base), strings.ToLower(name)) {
			return max(Maybe, r.has("", sub))
		}
	case len(sub) > 0 && strings.EqualFold(base, name+"-"+sub[0]): // git-push
		return contains(r.Words[1:], sub[1:])
	}
	return No
}

// names reports whether a command names the file of a program, as cp does.
func (r *Run) names(name string) bool {
	return slices.ContainsFunc(r.Words[1:], func(w Word) bool {
		dir, base := path.Split(w.Text)
		return strings.EqualFold(base, name) && (path.Base(dir) == "bin" || path.Base(dir) == "sbin") &&
			!quiet(program(r.Words[0]))
	})
}

// has returns whether the words after a program have the words of a subcommand.
func (r *Run) has(name string, sub []string) Match {
	if len(sub) == 0 {
		return Yes
	}
	parts, ok := scan(r.Words)
	subcommand := func(p part) bool { return p.kind == subcommandPart || p.kind == otherPart }
	if name == "" || !ok || !slices.ContainsFunc(parts, subcommand) {
		return contains(r.Words[1:], sub)
	}
	best := No
	for _, want := range append([]string{strings.Join(sub, " ")}, same[program(r.Words[0])+" "+sub[0]]...) {
		words := strings.Fields(want)
		if want != strings.Join(sub, " ") {
			words = append(words, sub[1:]...)
		}
		best = max(best, operands(r.Words, parts, words))
	}
	return best
}

// operands returns whether a command begins with the words of a subcommand, apart from its flags.
func operands(list []Word, parts []part, sub []string) Match {
	best := Yes
	var named []Word
	loose, last := false, 0
	for _, p := range parts {
		loose = loose || p.loose || p.kind == otherPart && (p.value.Text == "" || p.flag != "")
		if p.at+1 == p.end && p.at != last && !strings.HasPrefix(list[p.at].Text, "-") {
			named, last = append(named, list[p.at]), p.at
		}
	}
	n := 0
	for _, want := range sub {
		if strings.HasPrefix(want, "-") {
			best = min(best, contains(list, []string{want}))
			continue
		}
		switch {
		case n >= len(named):
			best = No
		case named[n].Text == want:
		case !named[n].Known() && may(named[n].Text, want):
			best = min(best, Maybe)
		default:
			best = No
		}
		n++
	}
	if loose && best == No {
		best = min(contains(list, sub), Maybe)
	}
	return best
}

// contains returns whether words follow each other in a list.
func contains(list []Word, some []string) Match {
	best := No
	for i := range list {
		match := Yes
		for j, want := range some {
			switch {
			case i+j < len(list) && list[i+j].Text == want:
			case i+j < len(list) && !list[i+j].Known() && may(list[i+j].Text, want), list[min(i+j, len(list)-1)].Splits:
				match = min(match, Maybe)
			default:
				match = No
			}
		}
		best = max(best, match)
	}
	if len(some) == 0 {
		return Yes
	}
	return best
}

// may reports whether a text with Unknown may be another text.
func may(text, want string) bool {
	parts := strings.Split(text, unknownText)
	if len(parts) == 1 {
		return text == want
	}
	rest, ok := strings.CutPrefix(want, parts[0])
	if !ok {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
