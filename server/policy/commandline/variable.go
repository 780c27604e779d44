package commandline

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// declare reads export and others, which may change the meaning of variables.
func (r *reader) declare(c *syntax.DeclClause, s state) (ok, all state) {
	r.noVars = r.noVars || c.Variant.Value != "export"
	for _, a := range c.Args {
		if a.Name == nil {
			r.noVars = true
			r.inner(a, &s)
			continue
		}
		s = r.assign(a, s)
	}
	return s, s
}

// assign returns the state after an assignment.
func (r *reader) assign(a *syntax.Assign, s state) state {
	if a.Name == nil || a.Value == nil {
		r.inner(a, &s)
		if a.Array != nil {
			s.vars = nil
			r.line.Unread = r.line.Unread || a.Name != nil && isSpecial(a.Name.Value)
		}
		return s
	}
	value := ""
	for _, part := range a.Value.Parts {
		value += r.part(part, &s).Text
	}
	if a.Index != nil {
		r.inner(a.Index, &s)
	}
	name := a.Name.Value
	r.setting(name, value, s)
	vars := maps.Clone(s.vars)
	if vars == nil {
		vars = map[string]string{}
	}
	delete(vars, name)
	keeps := !r.noVars && !a.Append && a.Index == nil && !specialName().MatchString(name)
	if keeps && value != "" && isLiteralText(value) {
		vars[name] = value
	}
	s.vars = vars
	if r.noVars {
		s.vars = nil
	}
	return s
}

// specialName matches variables that do not keep what is assigned to them, or change something else.
var specialName = compiled(`^(_|IFS|PATH|PWD|OLDPWD|CDPATH|RANDOM|SRANDOM|SECONDS|LINENO|REPLY|OPT.*|UID|EUID|PPID|` +
	`GROUPS|DIRSTACK|FUNCNAME|HIST.*|COMP_.*|BASH.*|EPOCH.*|ENV|PIPESTATUS|MAPFILE|COPROC|HOSTNAME|SHELLOPTS)$`)

// assigns reports whether a builtin changes variables that it names.
func assigns(name string) bool {
	switch name {
	case "read", "mapfile", "readarray", "printf", "getopts", "eval", ".", "source", "unset", "let", "wait", "builtin",
		"command", "print", "vared", "sysread", "zparseopts":
		return true
	}
	return false
}

// Variables whose values programs run, and those that change what programs do.
var (
	runVariable = compiled(`(?i)(COMMAND|PAGER|EDITOR|VISUAL|ASKPASS|SHELL|BROWSER|LESSOPEN|LESSCLOSE|RSH|_SSH$|` +
		`FLAGS$|EXTERNAL_DIFF|WRAPPER|RUNNER|LINKER|LAUNCHER|RUSTC|RUSTDOC|VIMINIT|EXINIT|BASH_ALIASES|BASH_CMDS|FCEDIT|` +
		`HOOK|_CMD|_PROG$|CACHEPROG|PACKAGESDRIVER|PKG_CONFIG$|CHOOSER|LUA_INIT|PERL5DB|ZIPOPT|JAVA_\w*OPTIONS|_OPTS$|` +
		`CARGO_ALIAS|FZF_DEFAULT|CCACHE_(PREFIX|COMPILER)|TEXEDIT|` +
		`^(CC|CXX|LD|AR|FC|CPP|GCCGO|GOAUTH|MAKE|CARGO|TERMINAL|MANOPT|ZIP|PARALLEL|LESS|SYSTEMD_LESS|LESSEDIT)$)`)
	opaqueVariable = compiled(`^(BASH_ENV|ENV|ZDOTDIR|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PS[0-4]|PROMPT_COMMAND|` +
		`SHELLOPTS|BASHOPTS|BASH_FUNC.*|NODE_OPTIONS|PERL5OPT|RUBYOPT|TAR_OPTIONS|GIT_EXEC_PATH|GIT_CONFIG.*|` +
		`GIT_TEMPLATE_DIR|MAKEFILES|IFS|CDPATH|COMPILER_PATH|GCC_EXEC_PREFIX|GOROOT|PYTHONBREAKPOINT|GCONV_PATH|LESSKEY.*)$`)
)

// placeVariable matches variables with a place of settings that programs run.
var placeVariable = compiled(`^(GIT_DIR|GIT_COMMON_DIR|KUBECONFIG|DOCKER_CONFIG|AWS_CONFIG_FILE|` +
	`AWS_SHARED_CREDENTIALS_FILE|CARGO_HOME|GRADLE_USER_HOME|GOENV|HGRCPATH|GNUPGHOME|PSQLRC|PYTHONSTARTUP|RIPGREP_CONFIG_PATH|` +
	`SCREENRC|WGETRC)$`)

// flagVariable matches variables with flags, of which few name a program.
var flagVariable = compiled(`(?i)((C|CXX|CPP|F|LD|RUST|RUSTDOC)FLAGS|_OPTS|OPTIONS|FZF_DEFAULT\w*)$`)

// npmRuns are the settings of npm whose values it runs, with - as _.
var npmRuns = compiled(`(?i)^(script_?shell|shell|editor|git|viewer|browser|init_?module|node_?options|node_?gyp|call|yarn_?path|` +
	`(global_)?pnpmfile|scripts\..*)$`)

// isSpecial reports whether a variable changes what later commands run.
func isSpecial(name string) bool {
	return name == "PATH" || runVariable().MatchString(name) || opaqueVariable().MatchString(name)
}

// runsHome reports whether a program runs what settings in the home directory say.
func runsHome(name string) bool {
	switch name {
	case "git", "hg", "vim", "vi", "nvim", "gvim", "view", "ex", "emacs", "gdb", "lldb", "psql", "mysql", "mariadb", "sqlite3",
		"zsh", "fish", "tmux", "screen", "irb", "pry", "ipython", "R", "Rscript", "julia", "ghci", "octave", "cargo", "gradle",
		"mvn", "aws", "kubectl", "docker", "podman", "wget", "mutt", "lftp", "gpg":
		return true
	}
	return false
}

// setting reads an assignment to a variable of the environment.
func (r *reader) setting(name, value string, s state) {
	r.home = r.home || name == "HOME" || name == "XDG_CONFIG_HOME"
	r.ended = r.ended || name == "PATH" || opaqueVariable().MatchString(name)
	npm, ofNPM := strings.CutPrefix(strings.ToLower(name), "npm_config_")
	switch {
	case opaqueVariable().MatchString(name), placeVariable().MatchString(name), isSubscript(value):
		r.line.Unread = true
	case ofNPM && npm != "":
		if npm == "node_options" || npm == "userconfig" || npm == "globalconfig" { // it runs the files that these name
			r.line.Unread = true
		}
		if npmRuns().MatchString(npm) {
			r.lines(value, s)
		}
		return
	case name == "PATH":
		for dir := range strings.SplitSeq(value, ":") {
			switch path.Base(dir) {
			case "bin", ".bin", "sbin", "shims", unknownText, ".":
			default:
				r.line.Unread = true
			}
		}
		return
	}
	switch {
	case !opaqueVariable().MatchString(name) && flagVariable().MatchString(name):
		r.flags(value, s)
	case runVariable().MatchString(name), opaqueVariable().MatchString(name):
		r.lines(value, s)
	}
}

// flags reads the known values of flags.
func (r *reader) flags(text string, s state) {
	r.line.Unread = r.line.Unread || strings.Contains(text, "execute") || strings.Contains(text, "--preview")
	for flag := range strings.FieldsSeq(text) {
		if _, value, ok := strings.Cut(flag, "="); ok && !strings.ContainsRune(value, Unknown) {
			r.script(strings.Trim(value, `"'`), s, true)
		}
	}
}

// lines reads a value that a program may run: all of it, or the values of flags in it.
func (r *reader) lines(value string, s state) {
	r.script(strings.TrimLeft(value, "|!-+ "), s, true)
	for i, c := range value {
		if c == '=' || c == ' ' && value[0] == '-' {
			r.script(value[i+1:], s, true)
		}
	}
	r.partly(value)
}

// evaluates reports whether a builtin takes names of variables whose subscripts run substitutions, or
// changes a variable that changes what later commands run.
func evaluates(name string, arguments []Word) bool {
	switch name {
	case "test", "[", "read", "printf", "unset", "let", "wait", "mapfile", "readarray", "getopts", "declare", "typeset",
		"local", "export":
		assigned := assigns(name) && name != "unset" && (name != "printf" || len(arguments) > 0 && arguments[0].Text == "-v")
		return slices.ContainsFunc(arguments, func(w Word) bool {
			return isSubscript(w.Text) || assigned && isSpecial(w.Text)
		})
	}
	return false
}

// isSubscript reports whether arithmetic with a text may run a substitution.
func isSubscript(text string) bool {
	return strings.Contains(text, "[") && (strings.Contains(text, "$(") || strings.Contains(text, "`"))
}

// compiled returns a function that compiles an expression when it is first needed.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
