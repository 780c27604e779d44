package commandline

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// readUsages are the flags with which a program only reads. Every word that begins with a dash must be
// in them, also the value of a flag.
var readUsages = sync.OnceValue(func() map[string]usage {
	const (
		sums   = "bct"
		digits = "0123456789"
		diffs  = "--cached --diff-filter --find-renames --ignore-all-space --ignore-space-change " +
			"--name-only --name-status --no-color --no-patch --no-renames --numstat --patch --raw " +
			"--shortstat --staged --stat --summary --unified --word-diff"
		logs = diffs + " --abbrev-commit --after --all --author --before --branches --date --decorate " +
			"--first-parent --follow --format --graph --grep --left-right --max-count --merges " +
			"--no-decorate --no-merges --oneline --pretty --reverse --since --skip --tags " +
			"--topo-order --until"
	)
	return map[string]usage{
		"basename":       {"a", "s", ""},
		"cat":            {"AbeEnstTuv", "", ""},
		"cmp":            {"bls", "n", ""},
		"cut":            {"s", "bcdf", ""},
		"df":             {"ahHikPT", "", ""},
		"diff":           {"abBdiNpqrstuwy" + digits, "CU", "--brief --recursive --unified"},
		"dirname":        {},
		"du":             {"abchHkLlmSsx", "dt", "--max-depth --human-readable --summarize"},
		"echo":           {"neE", "", ""},
		"false":          {},
		"file":           {"bhiL", "", ""},
		"find":           {},
		"git branch":     {"arv", "", "--all --list --remotes --show-current --verbose"},
		"git describe":   {"", "", "--abbrev --all --always --long --tags"},
		"git diff":       {"bpuwz" + digits, "GSU", diffs + " --check --exit-code --quiet"},
		"git log":        {"bgimprtuwz" + digits, "GLnSU", logs},
		"git ls-files":   {"cdmosz", "x", "--exclude-standard"},
		"git ls-tree":    {"drtlz", "", "--full-tree --long --name-only"},
		"git merge-base": {"a", "", "--all --is-ancestor"},
		"git rev-list":   {digits, "n", "--all --count --left-right --max-count"},
		"git rev-parse": {"", "", "" +
			"--abbrev-ref --git-dir --is-inside-work-tree --short --show-prefix --show-toplevel " +
			"--symbolic-full-name --verify"},
		"git shortlog": {"ens", "", "--email --numbered --summary"},
		"git show":     {"bpqrtuwz" + digits, "GSU", logs},
		"git status":   {"bsz", "", "--branch --long --porcelain --short --show-stash"},
		"grep": {"EFGPabcHhiIlLnoqrRsvwxz" + digits, "ABCem", "" +
			"--after-context --before-context --context --count --exclude --exclude-dir " +
			"--extended-regexp --files-with-matches --files-without-match --fixed-strings " +
			"--ignore-case --include --invert-match --line-number --max-count --no-messages " +
			"--only-matching --recursive --regexp --word-regexp"},
		"head":     {"qvz" + digits, "cn", "--bytes --lines"},
		"ls":       {"1AabCcdFfghiklLmnopqRrSstuUvXx", "Iw", "--all --human-readable --recursive"},
		"md5sum":   {sums, "", ""},
		"od":       {"bcdosvx", "AjNtw", ""},
		"pwd":      {"LP", "", ""},
		"readlink": {"efmn", "", ""},
		"realpath": {"ems", "", "--relative-to"},
		"rg": {"cFHhIiLlNnopqSsUuvwx.", "ABCegmTt", "" +
			"--after-context --before-context --context --count --count-matches --files " +
			"--files-with-matches --files-without-match --fixed-strings --glob --heading --hidden " +
			"--iglob --ignore-case --invert-match --json --line-number --max-count --max-depth " +
			"--multiline --no-heading --no-ignore --no-line-number --only-matching --regexp " +
			"--smart-case --sort --sortr --stats --type --type-not --word-regexp"},
		"sha1sum":   {sums, "", ""},
		"sha256sum": {sums, "", ""},
		"sort":      {"bcdfghinMrRsuVz", "kt", "--reverse --numeric-sort --unique --key"},
		"stat":      {"Lft", "c", "--format --printf"},
		"tail":      {"qvz" + digits, "cn", "--bytes --lines"},
		"test":      {"defrsxzn", "", ""},
		"tr":        {"cds", "", ""},
		"true":      {},
		"uname":     {"asnrvm", "", ""},
		"wc":        {"clLmw", "", "--bytes --chars --lines --words"},
		"which":     {"a", "", ""},
	}
})

// findTests are the parts of an expression of find that only read.
const findTests = "-H -L -P -a -amin -and -atime -cmin -ctime -daystart -depth -empty -executable -false -follow " +
	"-group -iname -ipath -iregex -links -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -not -o -or -path " +
	"-perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true -type -user " +
	"-writable -xdev"

// Reads reports whether a line only runs programs that read: no shell word in it has an unknown value,
// and its programs and their flags are in a table. The words contain all programs, with their operands.
// It is not enough to run the line: files can name programs that git runs, and operands any file.
// Unlike a line of Literal, it is for bash, where words such as HEAD~1 are fixed.
func Reads(line string) (words []string, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) == 0 {
		return nil, false
	}
	for _, s := range file.Stmts {
		more, ok := readsStmt(s)
		if !ok {
			return nil, false
		}
		words = append(words, more...)
	}
	return words, true
}

func readsStmt(s *syntax.Stmt) (words []string, ok bool) {
	if s.Background || s.Coprocess || s.Negated || len(s.Redirs) > 0 {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && c.Op != syntax.Pipe {
			return nil, false
		}
		left, ok := readsStmt(c.X)
		if !ok {
			return nil, false
		}
		right, ok := readsStmt(c.Y)
		return append(left, right...), ok
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 {
			return nil, false
		}
		for _, w := range c.Args {
			text, ok := fixedText(w)
			if !ok {
				return nil, false
			}
			words = append(words, text)
		}
		return words, readsProgram(words)
	}
	return nil, false
}

// fixedText returns the text of a word without expansions and patterns.
func fixedText(w *syntax.Word) (text string, ok bool) {
	return textOfWord(w, `\`, func(before, lit string) bool {
		return !strings.ContainsAny(lit, `*?[]{}\`) && (before != "" || !strings.HasPrefix(lit, "~"))
	})
}

func readsProgram(words []string) bool {
	name, words := words[0], words[1:]
	if name == "git" && len(words) > 0 {
		name, words = "git "+words[0], words[1:]
	}
	u, ok := readUsages()[name]
	if !ok {
		return false
	}
	operands := 0
	for i, w := range words {
		switch {
		case name == "find":
			if strings.HasPrefix(w, "-") && !slices.Contains(strings.Fields(findTests), w) {
				return false
			}
		case w == "--":
			operands += len(words) - i - 1
			return name != "git branch" || operands == 0
		case !strings.HasPrefix(w, "-") || w == "-":
			operands++
		case !u.has(w):
			return false
		}
	}
	return name != "git branch" || operands == 0 // an operand makes a branch
}

// has reports whether the flags of a word are in the usage.
func (u usage) has(word string) bool {
	if strings.HasPrefix(word, "--") {
		flag, _, _ := strings.Cut(word, "=")
		return slices.Contains(strings.Fields(u.long), flag)
	}
	rest := strings.TrimLeft(word[1:], u.switches)
	return rest == "" || strings.ContainsAny(rest[:1], u.values) // the rest is its value
}
