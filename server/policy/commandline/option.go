package commandline

import (
	"path"
	"strings"
)

// option reads a setting NAME=VALUE of a program.
func (r *reader) option(program, text string, s state) {
	name, value, _ := strings.Cut(text, "=")
	if program == "socat" {
		if _, line, ok := strings.Cut(text, ":"); ok {
			r.script(line, s, true)
		}
		return
	}
	if key, rest, ok := strings.Cut(text, " "); ok && value == "" { // ssh takes a blank
		name, value = key, rest
	}
	switch {
	case program == "alias", program == "make", program == "gmake":
		r.lines(value, s)
	case isNPM(program):
		if npmRuns().MatchString(strings.ReplaceAll(name, "-", "_")) {
			r.lines(value, s)
		}
	case hasProperties(program) && !runsProperty().MatchString(strings.ToLower(name)):
	case safeOption(program, name, value):
	case program == "git":
		alias, isAlias := strings.CutPrefix(strings.ToLower(name), "alias.")
		if isAlias && !strings.HasPrefix(value, "!") {
			r.run(append(known("git"), fields(value)...), s, true)
			return
		}
		key := strings.ToLower(name)
		if strings.HasPrefix(key, "include") || key == "core.hookspath" || key == "init.templatedir" || alias == "" && isAlias {
			r.line.Unread = true
		}
		if _, line, ok := strings.Cut(name, "ext::"); ok { // url.ext::LINE.insteadOf
			r.line.Unread = true
			r.script(strings.TrimSuffix(line, path.Ext(line)), s, true)
		}
		fallthrough
	default:
		r.lines(value, s)
	}
}

// isNPM reports whether a program has the settings of npm.
func isNPM(program string) bool {
	return program == "npm" || program == "pnpm" || program == "yarn" || program == "bun"
}

func fields(text string) []Word { return known(strings.Fields(text)...) }

// safeGitKeys are the settings of git that run nothing and write nothing, in lower case. A name that
// ends with a dot is a section.
var safeGitKeys = []string{
	"advice.", "color.", "column.", "status.", "user.", "author.", "committer.", "i18n.", "log.", "fetch.prune",
	"core.abbrev", "core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.longpaths", "core.quotepath",
	"core.safecrlf", "core.symlinks", "core.whitespace", "commit.gpgsign", "tag.gpgsign", "diff.algorithm",
	"diff.context", "diff.mnemonicprefix", "diff.noprefix", "diff.renames", "diff.renamelimit", "diff.submodule",
	"gc.auto", "grep.", "http.lowspeedlimit", "http.lowspeedtime", "http.postbuffer", "http.version",
	"init.defaultbranch", "merge.conflictstyle", "merge.ff", "merge.renames", "protocol.version", "pull.ff",
	"pull.rebase", "push.default", "push.followtags", "rebase.autosquash", "rebase.autostash", "rerere.enabled",
	"safe.directory", "submodule.recurse", "tag.sort",
}

// plainSetting reports whether an operand NAME=VALUE of a program is safe. ssh takes a blank.
func plainSetting(program, text string) bool {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		name, value, _ = strings.Cut(text, " ")
	}
	return safeOption(program, name, value)
}

// safeOption reports whether a setting NAME=VALUE neither runs another program nor writes a file.
func safeOption(program, name, value string) bool {
	name = strings.ToLower(name)
	switch program {
	case "git":
		for _, key := range safeGitKeys {
			if name == key || strings.HasSuffix(key, ".") && strings.HasPrefix(name, key) {
				return true
			}
		}
		return false
	case "go": // -ldflags
		return !strings.Contains(name+value, "ext")
	case "tar", "gtar", "bsdtar":
		return name == "dot" || name == "echo" || name == "bell" || name == "ttyout" || name == "sleep"
	case "ssh", "scp", "sftp", "slogin", "autossh":
		switch name {
		case "batchmode", "connecttimeout", "stricthostkeychecking", "user", "port", "loglevel", "compression",
			"serveraliveinterval", "serveralivecountmax", "connectionattempts", "identitiesonly",
			"passwordauthentication", "hostname", "preferredauthentications", "requesttty":
			return true
		}
		return false
	case "make", "gmake":
		return name != "shell" && name != "makeflags" && isSwitch(value)
	case "npm", "pnpm", "yarn", "bun":
		return !npmRuns().MatchString(strings.ReplaceAll(name, "-", "_"))
	}
	if hasProperties(program) {
		return !runsProperty().MatchString(name) && (value == "" || isSwitch(value))
	}
	return false
}

// hasProperties reports whether few of the settings of a program are run.
func hasProperties(program string) bool {
	switch program {
	case "cmake", "mvn", "mvnw", "gradle", "gradlew", "rustc", "rustdoc":
		return true
	}
	return false
}

// runsProperty matches properties of builds whose values are programs, or files with settings.
var runsProperty = compiled(
	`exec|program|command|compiler|launcher|linker|toolchain|shell|home|jvm|agent|argline|wrapper|hook`,
)

// isSwitch reports whether a value is a number, or a word of a setting.
func isSwitch(value string) bool {
	switch strings.ToLower(value) {
	case "y", "n", "yes", "no", "true", "false", "on", "off", "debug", "release", "relwithdebinfo", "minsizerel", "none",
		"native", "abort", "unwind", "thin", "fat":
		return true
	}
	return value != "" && strings.Trim(value, "0123456789.") == ""
}
