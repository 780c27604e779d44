package commandline

import (
	"cmp"
	_ "embed"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed programs.txt
var programs string

// A row is a program or a subcommand of the table.
type row struct {
	flags    map[string]string // what each takes, as its end in the table
	operands []string
	others   bool     // other flags are switches
	named    bool     // a rule that allows must name the subcommand
	bundle   bool     // the first operand is a cluster of flags
	reads    []string // files that it runs without being told; one that ends with a slash is a directory
}

// rows returns the table by program and subcommand. It is read when it is first needed.
var rows = sync.OnceValue(func() map[string]*row { return parseTable(programs) })

func parseTable(text string) map[string]*row {
	table := map[string]*row{}
	text = strings.ReplaceAll(text, "\n\t", " ")
	for _, lists := range []bool{true, false} { // of flags; rows name them
		for line := range strings.SplitSeq(text, "\n") {
			names, tokens, ok := cutNames(line)
			if !ok || strings.HasPrefix(line, "&") != lists {
				continue
			}
			p := parseRow(strings.Fields(tokens), table)
			for _, key := range expandNames(names) {
				table[key] = p
			}
		}
	}
	return table
}

// cutNames returns the names and the tokens of a line of the table. A name may have a colon.
func cutNames(line string) (names, tokens string, ok bool) {
	if line == "" || line[0] == '#' {
		return "", "", false
	}
	return strings.Cut(line, ": ")
}

// expandNames returns the keys of a row: | parts the names of each level.
func expandNames(names string) []string {
	keys := []string{""}
	for level := range strings.SplitSeq(names, " ") {
		var next []string
		for _, key := range keys {
			for name := range strings.SplitSeq(level, "|") {
				next = append(next, strings.TrimPrefix(key+" "+name, " "))
			}
		}
		keys = next
	}
	return keys
}

func parseRow(tokens []string, table map[string]*row) *row {
	p := &row{flags: map[string]string{}}
	for _, t := range tokens {
		switch {
		case t == "...":
			p.others = true
		case t == "!":
			p.named = true
		case t == "BUNDLE":
			p.bundle = true
		case t[0] == '<':
			p.reads = append(p.reads, t[1:])
		case t[0] == '&':
			maps.Copy(p.flags, table[t].flags)
		case strings.ContainsAny(t[:1], "-+/") && !strings.HasPrefix(t, "--CMD"):
			name := t[:1] + strings.TrimRight(t[1:], "=?>!$%^&*+.:~@<")
			p.flags[name] = t[len(name):]
		case strings.Contains(t, "="): // a flag of dd
			name, takes, _ := strings.Cut(t, "=")
			p.flags[name] = cmp.Or(takes, "=")
		default:
			p.operands = append(p.operands, t)
		}
	}
	return p
}

// quiet reports whether a program does nothing with the files and programs that its words name.
func quiet(name string) bool {
	p := rows()[name]
	return p != nil && len(p.operands) > 0 && p.operands[0] == "NOTHING"
}

// completed returns the long flag that begins like name; first one that runs something.
func (p *row) completed(name string) (flag string) {
	for _, n := range slices.Sorted(maps.Keys(p.flags)) {
		if takes := p.flags[n]; len(name) > 3 && strings.HasPrefix(n, name) && takes != "" &&
			(flag == "" || strings.ContainsAny(takes, "$*+:!")) {
			flag = n
		}
	}
	return flag
}

// program returns the name of a program in the table's form.
func program(w Word) string {
	name := path.Base(strings.TrimPrefix(w.Text, "="))
	if rows()[name] != nil {
		return name
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if rows()[name] != nil {
		return name
	}
	base := strings.TrimRight(name, "0123456789.-") // python3.12
	if strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld.so") {
		base = "ld.so"
	}
	if rows()[base] != nil {
		return base
	}
	if i := strings.LastIndexByte(base, '-'); i >= 0 && strings.Count(base, "-") > 1 && isCompiler(base[i+1:]) {
		return base[i+1:] // x86_64-linux-gnu-gcc
	}
	return name
}

// isCompiler reports whether there is a program by this name for each machine.
func isCompiler(name string) bool {
	switch name {
	case "gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "ld", "ar", "nm", "ranlib", "strip", "objdump", "objcopy",
		"readelf":
		return true
	}
	return false
}
