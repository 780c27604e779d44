package commandline

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// An Effect is a part of a line without which the line does not do all that it says: it changes a file,
// gains privileges, or connects to a host.
type Effect struct {
	Files    []string // absolute; one of them is changed
	Existing bool     // only if it exists
	Missing  bool     // only if it does not exist

	Program string // that gains privileges, or connects to Host
	Host    string
}

// Effects returns the effects that the line certainly has unless it fails before: the effects of commands
// whose failure nothing handles. Words that only the shell knows have none.
func (l *Line) Effects() (list []Effect) {
	for i := range l.redirected {
		if r := &l.redirected[i]; r.Sure && len(r.Words) == 1 {
			list = append(list, r.change(r.Words[0], Effect{})...)
		}
	}
	for i := range l.Commands {
		if l.Commands[i].Sure {
			list = append(list, l.Commands[i].effects()...)
		}
	}
	return list
}

// A usage is the flags of a program with which its effect is certain.
type usage struct {
	switches, values string // letters
	long             string // apart by blanks; one that ends with = takes a value
}

// usages are by program, made when they are first needed.
var usages = sync.OnceValue(func() map[string]usage {
	return map[string]usage{
		"cp":       {"aDdfHLPRrpTvx", "", "--recursive --force --verbose --archive"},
		"mv":       {"fTv", "", "--force --verbose"},
		"rm":       {"dfRrv", "", "--recursive --force --verbose"},
		"rmdir":    {"v", "", "--verbose"},
		"unlink":   {},
		"mkdir":    {"pv", "m", "--parents --verbose --mode="},
		"touch":    {"am", "drt", "--date= --reference="},
		"truncate": {"", "s", "--size="},
		"tee":      {"aip", "", "--append"},
		"ln":       {"fLnPrsTv", "", "--symbolic --force --verbose"},
		"install":  {"DpsvT", "gmo", "--mode= --owner= --group="},
		"chmod":    {"Rv", "", "--recursive --verbose"},
		"chown":    {"hRv", "", "--recursive --verbose"},
		"sed":      {"Enrsuz", "ef", "--regexp-extended --quiet --expression="},
		"curl": {"46fGgIiJjkLNOSsv", "AbdeHmoTuXw", "--compressed --fail --head --insecure --location --remote-name --show-error " +
			"--silent --verbose --connect-timeout= --data= --data-binary= --data-raw= --header= --json= --max-time= --output= " +
			"--request= --retry= --user= --user-agent= --write-out="},
		"wget": {"cNqSv", "OPTt", "--continue --no-check-certificate --no-verbose --quiet --show-progress --directory-prefix= " +
			"--header= --output-document= --timeout= --tries="},
		"ssh":  {"46AaCfNnqTtvXxY", "ilp", ""},
		"scp":  {"346Cpqrv", "iP", ""},
		"ping": {"46nq", "ciWw", ""},
		"git": {"fnqu", "b", "--bare --depth= --branch= --force --heads --mirror --no-tags --prune --quiet --recurse-submodules " +
			"--single-branch --tags"},
	}
})

// read returns the flags and the operands of a command. ok is false for any other flag, and for words
// that only the shell knows.
func (u usage) read(words []Word) (flags string, operands []Word, ok bool) {
	long := strings.Fields(u.long)
	for i := 0; i < len(words); i++ {
		w := words[i].Text
		name, _, attached := strings.Cut(w, "=")
		switch {
		case !words[i].Known() || words[i].Splits:
			return "", nil, false
		case w == "--":
			return flags, append(operands, words[i+1:]...), true
		case !strings.HasPrefix(w, "-") || w == "-":
			operands = append(operands, words[i])
		case strings.HasPrefix(w, "--"):
			switch {
			case slices.Contains(long, name+"="):
				if !attached {
					i++
				}
			case !slices.Contains(long, w):
				return "", nil, false
			}
			flags += w + " "
		default:
			for at, c := range w[1:] {
				value := strings.ContainsRune(u.values, c)
				if !value && !strings.ContainsRune(u.switches, c) {
					return "", nil, false
				}
				if flags += string(c); value {
					if at == len(w)-2 {
						i++
					}
					break
				}
			}
		}
	}
	return flags, operands, true
}

func (r *Run) effects() (list []Effect) {
	name := r.Words[0].Text
	if dir, base := path.Split(name); dir == "/bin/" || dir == "/usr/bin/" {
		name = base
	}
	words := r.Words[1:]
	switch name {
	case "sudo", "doas", "su", "pkexec":
		for _, w := range words {
			switch w.Text {
			case "-V", "-v", "-h", "--version", "--help":
				return nil
			}
		}
		return []Effect{{Program: name}}
	case "git":
		return r.git(words)
	case "dd":
		for _, w := range words {
			if file, ok := strings.CutPrefix(w.Text, "of="); ok {
				list = append(list, r.change(Word{file, w.Splits}, Effect{})...)
			}
		}
		return list
	case "sed":
		at := slices.IndexFunc(words, func(w Word) bool { return strings.HasPrefix(w.Text, "-i") })
		if at < 0 {
			return nil
		}
		words = slices.Delete(slices.Clone(words), at, at+1)
	}
	u, ok := usages()[name]
	if !ok {
		return nil
	}
	flags, operands, ok := u.read(words)
	if !ok {
		return nil
	}
	for i, w := range operands {
		last := i == len(operands)-1 && i > 0
		switch name {
		case "curl", "wget", "ssh", "scp", "ping":
			if host := hostOf(name, i, w.Text); host != "" {
				list = append(list, Effect{Program: name, Host: host})
			}
			continue
		case "cp", "ln", "install":
			if !last {
				continue
			}
		case "chmod", "chown", "sed":
			if i == 0 && (name != "sed" || !strings.ContainsAny(flags, "ef") && !strings.Contains(flags, "--expression")) {
				continue // the mode, the owner, the script
			}
		}
		existing := slices.Contains([]string{"rm", "rmdir", "unlink", "chmod", "chown", "sed"}, name) || name == "mv" && !last
		list = append(list, r.change(w, Effect{Existing: existing, Missing: name == "mkdir"})...)
	}
	return list
}

// change returns the effect of changing a file that a word names.
func (r *Run) change(w Word, e Effect) []Effect {
	if !w.Known() || w.Splits || w.Text == "" || strings.HasPrefix(w.Text, "~") {
		return nil
	}
	for _, dir := range r.Dirs {
		file := w.Text
		if !path.IsAbs(file) {
			if strings.ContainsRune(dir, Unknown) || dir == "" {
				return nil
			}
			file = strings.TrimSuffix(dir, "/") + "/" + file
		}
		if !slices.Contains(e.Files, file) {
			e.Files = append(e.Files, file)
		}
	}
	return []Effect{e}
}

// git returns the effects of a command of git with a directory that it makes, or an address.
func (r *Run) git(words []Word) (list []Effect) {
	if len(words) < 2 {
		return nil
	}
	sub := words[0].Text
	_, operands, ok := usages()["git"].read(words[1:])
	if !ok || len(operands) == 0 {
		return nil
	}
	if sub == "init" && len(operands) == 1 || sub == "clone" && len(operands) == 2 {
		list = append(list, r.change(operands[len(operands)-1], Effect{Missing: true})...)
	}
	switch sub {
	case "clone", "ls-remote", "fetch", "pull", "push":
		if host := hostOf("git", 0, operands[0].Text); host != "" {
			list = append(list, Effect{Program: "git", Host: host})
		}
	}
	return list
}

// hostOf returns the host to which a program connects for an operand, or "".
func hostOf(program string, at int, operand string) string {
	if scheme, _, ok := strings.Cut(operand, "://"); ok {
		u, err := url.Parse(operand)
		if err != nil || scheme == "file" {
			return ""
		}
		return u.Hostname()
	}
	_, afterUser, isUser := strings.Cut(operand, "@")
	host, _, remote := strings.Cut(operand, ":")
	switch program {
	case "curl", "wget":
		u, err := url.Parse("http://" + operand)
		if err != nil {
			return ""
		}
		return u.Hostname()
	case "ping":
		return operand
	case "ssh":
		if at > 0 {
			return ""
		}
		if isUser {
			return afterUser
		}
		return operand
	}
	if !remote || strings.Contains(host, "/") { // of scp and git: a file
		return ""
	}
	if isUser {
		host, _, _ = strings.Cut(afterUser, ":")
	}
	return host
}
