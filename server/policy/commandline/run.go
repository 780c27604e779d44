package commandline

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// run adds a command and what it runs.
func (r *reader) run(list []Word, s state, certain bool) {
	if len(list) == 0 || r.plainShell && !list[0].Known() {
		return
	}
	if r.depth >= maxDepth {
		r.line.Unread = true
		return
	}
	if !r.add(list, s, certain) {
		return
	}
	added := len(r.line.Commands) - 1
	r.depth++
	defer func() { r.depth-- }()
	switch first := list[0].Text; {
	case strings.HasPrefix(first, "-") && len(first) > 1: // of time as a program, or for a shell that su starts
		r.run(append(known("time"), list...), s, certain)
		r.run(append(known("sh"), list...), s, certain)
	case strings.HasPrefix(first, "/proc/"): // the shell
		r.line.Unread = true
		r.run(append(known("sh"), list[1:]...), s, certain)
	}
	name := program(list[0])
	r.ended = r.ended || ends(name, list)
	s.sure = s.sure && certain
	if strings.Contains(list[0].Text, "/") {
		r.scripts = append(r.scripts, path.Base(list[0].Text))
	}
	if strings.ContainsRune(path.Base(list[0].Text), Unknown) { // it may be a wrapper, or a builtin
		r.line.Unread = true
		r.later(list, s)
	}
	r.line.Unread = r.line.Unread || evaluates(name, list[1:]) || r.home && runsHome(name)
	list = prepared(name, list)
	parts, ok := scan(list)
	if !ok {
		return
	}
	s.sure = s.sure && passes(name, list, parts)
	for _, p := range parts {
		r.readPart(name, p, list, s)
		if p.kind == listPart {
			command := &r.line.Commands[added]
			command.Words = append(slices.Clip(command.Words), Word{unknownText, true})
		}
	}
	r.reads = append(r.reads, rows()[name].reads...)
	r.types(name, list[1:])
	switch name {
	case "cp", "mv", "ln", "install", "sed", "patch", "curl", "wget":
		for _, w := range list[1:] {
			r.writes(w.Text)
		}
	case "parallel":
		for i, w := range list {
			if i > 0 && strings.HasPrefix(list[i-1].Text, ":::") {
				r.script(w.Text, s, i == 2)
			}
		}
	}
}

// ends reports whether after a command of the shell what follows may not run, or may run other
// commands by the same names.
func ends(name string, list []Word) bool {
	switch name {
	case "exit", "return", "exec", "break", "continue", "kill", "source", ".", "trap", "alias", "enable", "hash", "shopt",
		"setopt", "emulate", "autoload":
		return true
	case "set":
		return slices.ContainsFunc(list[1:], func(w Word) bool {
			return !w.Known() || strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "n") || w.Text == "noexec"
		})
	}
	return !list[0].Known()
}

// passes reports whether a command certainly runs the command, or the line, in its words.
func passes(name string, list []Word, parts []part) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh":
		if slices.ContainsFunc(list[1:], func(w Word) bool { // noexec
			return len(w.Text) < 8 && strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "n") || w.Text == "noexec"
		}) {
			return false
		}
	case "env", "nice", "nohup", "timeout", "gtimeout", "stdbuf", "time", "gtime", "command", "builtin", "setsid", "ionice",
		"eval":
	default:
		return false
	}
	unclear := func(p part) bool { return p.loose || p.kind == otherPart || p.kind == opaquePart }
	return !slices.ContainsFunc(parts, unclear)
}

// prepared returns the words with those that a program adds, or puts into its command.
func prepared(name string, list []Word) []Word {
	replace := ""
	switch name {
	case "xargs":
		for i, w := range list {
			switch {
			case w.Text == "-I" && i+1 < len(list):
				replace = list[i+1].Text
			case strings.HasPrefix(w.Text, "-I"), strings.HasPrefix(w.Text, "-i"):
				replace = w.Text[2:]
			case strings.HasPrefix(w.Text, "--replace="):
				replace = strings.TrimPrefix(w.Text, "--replace=")
			}
		}
		list = append(slices.Clip(list), Word{unknownText, true})
		fallthrough
	case "find", "gfind", "fd", "fdfind", "parallel", "rush", "env_parallel":
		replace = cmp.Or(replace, "{}")
		list = slices.Clone(list)
		for i, w := range list {
			if i > 1 && list[i-1].Text != "-I" {
				list[i].Text = strings.ReplaceAll(w.Text, replace, unknownText)
			}
		}
	}
	return list
}

// readPart reads what a part of a command runs.
func (r *reader) readPart(name string, p part, list []Word, s state) {
	switch p.kind {
	case commandPart:
		command := list[p.at:p.end]
		if p.before != "" {
			command = append(known(strings.Split(p.before, ":")...), command...)
		}
		r.run(command, s, true)
		if p.at < p.end && strings.ContainsAny(list[p.at].Text, " \t\n") { // some take a line
			r.script(join(list[p.at:p.end]), s, true)
		}
	case wordsPart:
		r.run(list[p.at:p.end], s, true)
		r.later(list[p.at:p.end], s)
		for _, w := range list[p.at:p.end] {
			if strings.ContainsAny(w.Text, " \t\n") {
				r.script(w.Text, s, true)
			}
		}
	case linePart:
		r.script(p.value.Text, s, true)
		r.partly(p.value.Text)
	case codePart:
		r.code(name, p.value.Text, s)
	case writtenPart: // of some programs a pipe
		if line := strings.TrimLeft(p.value.Text, "|!"); line != p.value.Text {
			r.script(line, s, true)
			r.partly(line)
		}
		r.writes(p.value.Text)
	case settingPart:
		r.option(name, p.value.Text, s)
	case assignmentPart:
		key, value, _ := strings.Cut(p.value.Text, "=")
		r.setting(key, value, s)
	case opaquePart:
		r.line.Unread = true
		r.unsure(func() { r.script(p.value.Text, s, false) })
	case filePart:
		if file := path.Base(p.value.Text); file != "." {
			r.scripts = append(r.scripts, file)
			r.scriptOf(file, p, list, s)
		}
		switch text := p.value.Text; {
		case text == "-", text == "/dev/stdin":
			r.input(name, slices.Contains(rows()[name].operands, "STDIN"), s)
		case strings.HasPrefix(text, "data:"): // of scripts in JavaScript
			r.line.Unread = true
			r.code(name, text, s)
		case strings.HasPrefix(text, "/dev/"), strings.HasPrefix(text, "/proc/"):
			r.line.Unread = true
		case strings.HasPrefix(text, unknownText): // a file, unless it is a flag or the input
			r.line.Unread = r.line.Unread || p.value.Splits || p.end < len(list) || s.piped || len(s.input) > 0
		}
	case inputPart:
		r.input(name, p.flag == "STDIN", s)
	case otherPart:
		switch {
		case p.flag != "":
			r.unsure(func() { r.script(p.value.Text, s, false) })
		case hasAliases(name) && p.value.Text != "": // an alias, or an extension
			r.line.Unread = true
		}
	case namedPart: // a file that a program reads as its script
		text := p.value.Text
		r.line.Unread = r.line.Unread || p.flag != "" && (text == "-" || strings.HasPrefix(text, "/dev/"))
	}
	if p.loose && (p.kind == commandPart || p.kind == linePart) { // it may begin later
		r.later(list[p.at:p.end], s)
	}
	for _, prefix := range []string{"ext::", "!"} { // of git: a remote, an alias; of ed: a file
		if line, ok := strings.CutPrefix(p.value.Text, prefix); ok && p.kind <= linePart && takesBang(name) {
			r.script(strings.ReplaceAll(line, "%", ""), s, true)
		}
	}
}

// scriptOf reads what the arguments of a script in the table run, such as of manage.py.
func (r *reader) scriptOf(name string, p part, list []Word, s state) {
	if rows()[name] == nil || p.flag != "" || r.depth >= maxDepth {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	words := append(known(name), list[p.end:]...)
	parts, _ := scan(words)
	for _, q := range parts {
		switch q.kind {
		case codePart, linePart, wordsPart, inputPart:
			r.readPart(name, q, words, s)
		}
	}
}

// hasAliases reports whether an unknown subcommand of a program is an alias of the user, or an extension.
func hasAliases(program string) bool { return program == "git" || program == "gh" || program == "glab" }

// takesBang reports whether a program takes a text that begins with ! as a line for a shell.
func takesBang(program string) bool {
	return hasAliases(program) || program == "ed" || program == "red"
}

// typing returns the commands of a program that type a text elsewhere, or read commands from a file:
// several of them make one line. They may be abbreviated.
func typing(program string) []string {
	switch program {
	case "tmux", "byobu":
		return []string{
			"send-keys", "send-prefix", "set-buffer", "setb", "paste-buffer", "load-buffer", "source-file", "if-shell",
			"set-hook", "confirm-before", "command-prompt", "bind-key", "-f",
		}
	case "screen":
		return []string{"stuff", "paste", "readbuf", "source", "register", "process", "bind", "-c"}
	case "zellij":
		return []string{"action", "--layout", "--config", "-l", "-c"}
	}
	return nil
}

// types notes that a command types what the line may not show whole.
func (r *reader) types(name string, words []Word) {
	verbs := typing(name)
	r.line.Unread = r.line.Unread || slices.ContainsFunc(words, func(w Word) bool {
		return len(w.Text) > 1 && w.Text != "set" && slices.ContainsFunc(verbs, func(verb string) bool {
			return strings.HasPrefix(verb, w.Text)
		})
	})
}

// later reads each word of a command but the first as the beginning of a possible one.
func (r *reader) later(list []Word, s state) {
	s.sure = false
	r.line.Unread = r.line.Unread || len(list) > maxLater
	for i := 1; i < min(len(list), maxLater); i++ {
		r.unsure(func() { r.run(list[i:], s, false) })
	}
}

// partly notes that a line for a shell is not known whole.
func (r *reader) partly(line string) {
	r.line.Unread = r.line.Unread || strings.ContainsRune(line, Unknown)
}

// input reads a program's input: lines for a shell, or a text in its own language.
func (r *reader) input(name string, shell bool, s state) {
	if len(s.input) == 0 && !s.piped {
		return // the input of the line, which is none
	}
	exact := !s.piped
	shell = shell || rows()[name] == rows()["sh"] || rows()[name] == rows()["."]
	for _, w := range s.input {
		if !shell {
			r.code(name, w.Text, s)
			continue
		}
		r.script(w.Text, s, true)
		exact = exact && w.Known()
	}
	r.line.Unread = r.line.Unread || !exact
}
