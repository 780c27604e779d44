package policy

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

// denyLists are rules of users, by what the table of ordinary lines calls them.
var denyLists = [][]string{
	{"rm"},
	{"git push"},
	{"curl", "wget"},
	{"sudo"},
	{"docker", "kubectl"},
	{"npm publish", "cargo publish"},
	{"git reset", "git clean", "git rebase"},
	{".env", ".pem", ".ssh"},
	{"dd", "mkfs", "shutdown", "reboot"},
	{"chmod", "chown", "kill", "pkill"},
}

func denyList(names []string) *protocol.PolicyFile {
	f := &protocol.PolicyFile{Allow: []protocol.PolicyRule{{Tool: "shell"}}}
	paths := map[string]string{".env": "**/.env", ".pem": "**/*.pem", ".ssh": "**/.ssh/**"}
	for _, name := range names {
		if path := paths[name]; path != "" {
			f.Deny = append(f.Deny, protocol.PolicyRule{Path: path})
		} else {
			f.Deny = append(f.Deny, programRules(name)...)
		}
	}
	return f
}

// maxAsked bounds the ordinary lines that are asked, under all lists together: those that name files by
// a glob, a variable, the output of another command or a file with names, under rules for paths.
const maxAsked = 38

// A line is denied if it runs what a list denies, and only then. Few lines are asked.
func TestOrdinaryLines(t *testing.T) {
	dir := linkedDir(t)
	lines := tableLines(t, "ordinary.txt")
	asked := 0
	for _, list := range denyLists {
		f := denyList(list)
		for _, entry := range lines {
			what, line, _ := strings.Cut(entry, "\t")
			line = strings.ReplaceAll(line, "⏎", "\n")
			denied := slices.ContainsFunc(list, func(name string) bool {
				return strings.Contains(" "+what+" ",
					" "+name+" ")
			})
			call := command(line)
			call.Dir, call.Tool = dir, "shell"
			switch r := JudgeFile(f, &call); {
			case denied != (r.Action == Refuse):
				t.Errorf("%q denied: %q: %s", list, line, marks[r.Action])
			case r.Action == AskUser:
				asked++
				t.Logf("%q asked: %q", list, line)
			}
		}
	}
	t.Logf("%d lines, %d lists: %d asked", len(lines), len(denyLists), asked)
	if asked > maxAsked {
		t.Errorf("%d asked, want at most %d", asked, maxAsked)
	}
}
