package commandline

import (
	"slices"
	"strings"
	"testing"
)

// The table has each program once, and only words that the scanner knows.
func TestTheTableIsRead(t *testing.T) {
	operands := []string{
		"VARS", "ARG", "NAMEDARG", "IMAGE", "CMD", "--CMD", "--CMDTEXT", "ANY", "LINE", "$", "%", "FILE", "SUB", "SETTINGS", "SOCAT",
		"CONFIG", "OUT", "NAMED", "TEXT", "NOTHING", "STDIN", "CODEIN", "WRITTEN", "CODE", "CHANGED", "DEST", "MODULE",
		"PACKAGES", "PROGRAM", "SUBCMD", "SUBTEXT", "OUT1", "SOURCES", "ANYIN",
	}
	takes := []string{
		"", "=", "?", ">", "!", "!=", "~", "~=", "$", "*", "+", ".", ":", "%", "@", "^", "&", "?$", "?%", "?^", ">~",
		"@^", "<",
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(strings.ReplaceAll(programs, "\n\t", " "), "\n") {
		names, _, ok := cutNames(line)
		if !ok {
			continue
		}
		for _, key := range expandNames(names) {
			if seen[key] {
				t.Errorf("%s is twice in the table", key)
			}
			seen[key] = true
		}
	}
	for name, p := range rows() {
		for _, o := range p.operands {
			if strings.HasPrefix(o, "--CMD:") {
				continue
			}
			if !slices.Contains(operands, o) {
				t.Errorf("%s: unknown operand %s", name, o)
			}
		}
		for flag, kind := range p.flags {
			if !slices.Contains(takes, kind) {
				t.Errorf("%s: %s takes %q", name, flag, kind)
			}
		}
	}
	if len(rows()) < 500 {
		t.Errorf("only %d rows", len(rows()))
	}
}

func TestPartsOfACommand(t *testing.T) {
	for line, want := range map[string][]part{
		"timeout -k 5 5 a b": {{kind: textPart, at: 1, end: 3}, {kind: textPart, at: 3, end: 4}, {kind: commandPart, at: 4, end: 6}},
		"env A=b a":          {{kind: assignmentPart, at: 1, end: 2}, {kind: commandPart, at: 2, end: 3}},
		"sudo -ua b":         {{kind: textPart, at: 1, end: 2}, {kind: commandPart, at: 2, end: 3}},
		"git -C a push -f": {
			{kind: writtenPart, at: 1, end: 3}, {kind: subcommandPart, at: 3, end: 4}, {kind: namedPart, at: 3, end: 4},
		},
		"tar xfI a b":          {{kind: writtenPart, at: 1, end: 3}, {kind: linePart, at: 1, end: 4}},
		"find a -exec b ; -ls": {{kind: textPart, at: 1, end: 2}, {kind: commandPart, at: 3, end: 4}},
		"go test --exec=a":     {{kind: subcommandPart, at: 1, end: 2}, {kind: linePart, at: 2, end: 3}},
		"tar --to-comm=a":      {{kind: otherPart, at: 1, end: 2}, {kind: linePart, at: 1, end: 2}},
		"sudo --foo a":         {{kind: otherPart, at: 1, end: 2}, {kind: commandPart, at: 2, end: 3, loose: true}},
		"bash -lc a b":         {{kind: linePart, at: 2, end: 3}},
		"command -v a":         nil,
	} {
		got, ok := scan(known(strings.Fields(line)...))
		for i := range got {
			got[i].value, got[i].flag = Word{}, ""
		}
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}
