package protocol

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// A PlainCommand is a command whose other arguments cannot change what runs.
type PlainCommand struct {
	Line     string   // for a shell
	Dir      string   // as given; empty: not given
	Settings []string // such as "timeout: 5000", sorted

	match map[string]json.RawMessage // the fields that a rule matches
}

// The names of a plain command's arguments other than command.
var (
	directoryNames   = []string{"cwd", "dir_path", "directory", "workdir", "working_directory"}
	descriptionNames = []string{"description", "reason", "justification", "why"}
	settingNames     = []string{"is_background", "run_in_background", "timeout", "timeout_ms"}
)

// Command returns the command if the arguments hold only a command as text or words, one working
// directory, a description, a timeout and whether the command runs in the background. Otherwise ok
// is false.
func (a *Arguments) Command() (p PlainCommand, ok bool) {
	p.match = map[string]json.RawMessage{"command": a.fields["command"]}
	if line, isText := a.Text("command"); isText {
		p.Line = line
	} else {
		p.Line = JoinCommand(words(a.fields["command"]))
	}
	dirs := 0
	unknown := a.unknown(func(name string, value json.RawMessage) bool {
		text, isText := a.Text(name)
		switch {
		case name == "command":
		case slices.Contains(directoryNames, name):
			dirs++
			p.Dir = text
			return text != ""
		case slices.Contains(descriptionNames, name):
			return isText
		case slices.Contains(settingNames, name):
			p.match[name] = value
			if string(value) != "false" {
				p.Settings = append(p.Settings, name+": "+string(value))
			}
			return value[0] != '"' && value[0] != '[' && value[0] != '{'
		case name == "commands": // the command, once more
			list := words(value)
			return len(list) == 1 && list[0] == p.Line
		default:
			return false
		}
		return true
	})
	slices.Sort(p.Settings)
	return p, strings.TrimSpace(p.Line) != "" && dirs <= 1 && !unknown
}

// in reports whether the command runs in dir, as far as its arguments show.
func (p *PlainCommand) in(dir string) bool {
	told := path.Clean(p.Dir)
	switch {
	case p.Dir == "" || told == ".":
		return true
	case isAbsolute(told):
		return told == path.Clean(dir)
	}
	return told != ".." && !strings.HasPrefix(told, "../") && strings.HasSuffix(path.Clean(dir), "/"+told)
}

// words returns a JSON list of texts; nil: it is something else.
func words(raw json.RawMessage) []string {
	var list []*string
	if json.Unmarshal(raw, &list) != nil || slices.Contains(list, nil) {
		return nil
	}
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = *w
	}
	return out
}

// shells are the programs whose -c takes a command that is shown without them.
var shells = []string{
	"sh", "bash", "zsh", "/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/sh", "/usr/bin/bash", "/usr/bin/zsh",
}

// JoinCommand returns words as a command for a shell. Of a shell with -c or -lc it is the command
// that the shell gets.
func JoinCommand(argv []string) string {
	if len(argv) == 3 && slices.Contains(shells, argv[0]) && (argv[1] == "-c" || argv[1] == "-lc") &&
		strings.TrimSpace(argv[2]) != "" {
		return argv[2]
	}
	quoted := make([]string, len(argv))
	for i, w := range argv {
		quoted[i] = w
		if w == "" || strings.ContainsFunc(w, isShellSpecial) || i == 0 && strings.Contains(w, "=") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func isShellSpecial(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
		!strings.ContainsRune("-_./:=@%+,", r)
}
