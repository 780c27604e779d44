package commandline

import (
	"slices"
	"strings"
)

// Words of languages that start programs.
var (
	starts = compiled("(?i)system|exec|spawn|popen|subprocess|shell|child_process|fork|ctypes|eval|__import__|getattr|" +
		"\\brun\\s*[<\"'(]|Command\\(|\\bpty\\b|`|%x|\\bqx|open\\b.*\\||^[:.\\s]*!|\\\\!|passthru|proc_open|call_user|" +
		"process\\.binding|(call|start|make|read|create)-?process|processbuilder|os:cmd|sys\\.(command|process)|" +
		"syscmd|write18|\\bsh\\s+[\"'(]|\\(sh\\b|run-program|importlib|runpy|__(dict|globals|builtins|class|getattribute)__|" +
		"globals\\(|vars\\(|public_send|__send__|\\.send\\b|gorge|auto_prepend|sendmail_path")
	ipythonLine = compiled(`^\s*[%!]*[a-z]\w*(\s+[^=\s(]|$)`)
	awkStarts   = compiled(`system|[^|]\|[^|]|getline|@load|@include|indirect`)
	textOf      = compiled("(?s)\"((?:\\\\.|[^\"\\\\])*)\"|'((?:\\\\.|[^'\\\\])*)'|`([^`]*)`")
)

// code reads a text in a program's language. What its texts would run counts if it starts programs.
func (r *reader) code(name, script string, s state) {
	switch name {
	case "sed", "gsed":
		commands, plain := sedScript(script)
		r.written[unknownText] = r.written[unknownText] || !plain
		for _, c := range commands {
			r.script(c, s, true)
			r.line.Unread = r.line.Unread || strings.TrimSpace(c) == ""
		}
		r.partly(script)
		return
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		r.written[unknownText] = r.written[unknownText] || awkWrites().MatchString(script)
		if !awkStarts().MatchString(script) {
			r.partly(script)
			return
		}
	case "aws", "az", "gcloud", "kubectl", "oc", "helm": // texts in JSON, or NAME=TEXT
		r.lines(script, s)
		for _, m := range textOf().FindAllStringSubmatch(script, -1) {
			r.script(m[1]+m[2]+m[3], s, true)
		}
		return
	case "docker", "docker-compose", "podman", "buildah", "nerdctl", "make", "gmake", "just", "ninja": // lines in a file
		r.foreign(script, s, true)
		return
	case "ipython": // a line may be one for a shell
		for line := range strings.SplitSeq(script, "\n") {
			if ipythonLine().MatchString(line) {
				r.script(strings.TrimLeft(line, "%! "), s, true)
			}
		}
		r.language(&language{runs: starts}, script, s)
		return
	case "fish", "csh", "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "cmd", "cmd.exe":
		r.script(script, s, true)
		if _, ok := Literal(script); !ok {
			r.foreign(script, s, true)
		}
		return
	default:
		l := languages()[name]
		r.written[unknownText] = r.written[unknownText] || strings.Contains(script, "writefile(") ||
			(l == nil || !l.data) && (strings.Contains(script, "open(") || strings.Contains(script, "write"))
		bang := slices.Contains(rows()[name].operands, "CODEIN") && strings.Contains(script, "!")
		if l != nil {
			r.language(l, script, s)
		}
		if (l != nil && l.data || !starts().MatchString(script)) && !bang {
			r.partly(script)
			return
		}
		for bang && script != "" { // of an editor, a debugger or a pager
			var line string
			_, script, bang = strings.Cut(script, "!")
			line, _, _ = strings.Cut(script, "\n")
			r.script(line, s, true)
		}
	}
	r.line.Unread = true
	for _, m := range textOf().FindAllStringSubmatch(script, -1) {
		line := m[1] + m[2] + m[3]
		r.script(unescape(line, `"'\`), s, true)
	}
}

// plainCode reports whether a text in a program's language neither runs another nor writes a file.
func plainCode(name, script string) bool {
	switch name {
	case "sed", "gsed":
		commands, plain := sedScript(script)
		return plain && len(commands) == 0
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return !awkStarts().MatchString(script) && !awkWrites().MatchString(script)
	}
	return false
}

// awkWrites matches a statement that prints into a file. A comparison in parentheses is none.
var awkWrites = compiled(`print[^;}\n]*>|\bclose\b`)

// sedScript returns the commands that a script for sed runs, empty for its input. plain reports
// that the script has only commands that change text.
func sedScript(script string) (commands []string, plain bool) {
	plain = true
	for i := 0; i < len(script); {
		switch c := script[i]; {
		case strings.IndexByte(" \t\n;{}!,0123456789$~+", c) >= 0:
			i++
		case c == '/':
			i = sedUntil(script, i+1, '/')
			for i < len(script) && strings.IndexByte("IM", script[i]) >= 0 {
				i++
			}
		case c == '\\' && i+1 < len(script):
			i = sedUntil(script, i+2, script[i+1])
		case strings.IndexByte("=dDgGhHnNpPxlzqQF", c) >= 0:
			i++
		case c == 's' || c == 'y':
			if i+1 >= len(script) {
				return commands, false
			}
			from := sedUntil(script, i+2, script[i+1])
			to := sedUntil(script, from, script[i+1])
			end := to
			for end < len(script) && strings.IndexByte("gpiIeMmw0123456789", script[end]) >= 0 {
				end++
			}
			flags := script[to:end]
			if c == 's' && strings.Contains(flags, "e") {
				commands = append(commands, script[from:max(to-1, from)])
			}
			if strings.Contains(flags, "w") {
				return commands, false
			}
			i = end
		case c == 'e':
			line, _, _ := strings.Cut(script[i+1:], "\n")
			commands = append(commands, line)
			i += 1 + len(line)
		case strings.IndexByte("aicrRwW#", c) >= 0: // the rest of the line is a text or a file
			line, _, _ := strings.Cut(script[i:], "\n")
			plain = plain && c != 'w' && c != 'W'
			i += len(line)
		case strings.IndexByte("tTb:", c) >= 0: // a label
			for i < len(script) && !strings.ContainsRune(";}\n", rune(script[i])) {
				i++
			}
		default:
			return append(commands, ""), false
		}
	}
	return commands, plain
}

// sedUntil returns the offset after the next delimiter that is not escaped.
func sedUntil(script string, i int, delimiter byte) int {
	for ; i < len(script); i++ {
		switch script[i] {
		case '\\':
			i++
		case delimiter:
			return i + 1
		}
	}
	return len(script)
}
