package commandline

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// A language is the commands of a program that are no general language: an editor, a debugger or a
// client of a database.
type language struct {
	plain func() *regexp.Regexp // matches a line that runs no other program; nil: each does that runs does not match
	runs  func() *regexp.Regexp // matches a text that may run one; nil: none does
	pipes bool                  // the rest after | is a line for a shell
	shell string                // commands that take a line for a shell, apart by blanks; abbreviated
	data  bool                  // words of general languages mean nothing
}

// languages returns the languages by program, made when they are first needed.
var languages = sync.OnceValue(func() map[string]*language {
	editor := &language{
		plain: compiled(`^[:\s]*[-%\d,.$+]*\s*(|\d+|[/?].*|(q|qa|qall|quit|wq|wqa|x|xa|xall|wa|wall|w|write|e|edit|sp|split|` +
			`vs|vsplit|tabe|tabnew|enew|bd|b|bn|bp|n|d|p|noh|nohlsearch|se|set|setl|setlocal|syn|syntax|filetype|ft|` +
			`colorscheme|colo|so|source|s|g|v|sort|normal?|startinsert|echo|let|call|sleep)\b[^|!]*)!?\s*$`),
		runs: compiled(`(?i)shell|prg|term|job|system|:!|norm|libcall|py|lua|ruby|perl|tcl|exe|eval|func`),
	}
	debugger := &language{
		plain: compiled(`^\s*(|(bt|backtrace|where|info|i|image|p|po|print|x|list|l|threads?|frame|f|up|down|show|` +
			`set (pagination|confirm|width|height|logging|print|var|variable|listsize|language|debuginfod|style|args)|` +
			`settings|register|memory|target create|process (launch|continue|attach|detach|kill)|run|r|starti?|c|cont|` +
			`continue|n|next|s|step|si|stepi|ni|nexti|fin|finish|until|b|br|break|breakpoint|tbreak|rbreak|watch|` +
			`watchpoint|rwatch|awatch|catch|delete|d|disable|enable|display|undisplay|ptype|whatis|disas|disassemble|` +
			`quit|q|kill|k|detach|attach|handle|echo|printf|help|h|symbol-file|core|core-file|sharedlibrary|pwd|` +
			`return|jump|source)\b[^|;&<>$` + "`" + `]*)$`),
		pipes: true, shell: "shell make",
	}
	sqlite := &language{
		data: true,
		plain: compiled(`^\s*(|[^.\s].*|\.(tables?|schema|mode|headers?|quit|exit|dump|index(es)?|indices|width|timeout|` +
			`databases|fullschema|stats|show|nullvalue|separator|timer|bail|changes|eqp|explain|help|param(eter)?|prompt|` +
			`version|open|restore|save|backup|clone|log|print|echo)\b.*|\.(output|once|import|read)\b[^|]*)$`),
		runs:  compiled(`(?i)load_extension|\bedit\s*\(`),
		pipes: true, shell: "shell system",
	}
	postgres := &language{
		data:  true,
		runs:  compiled(`(?i)\\!|\\(o|out|w|write|g|gx|s)\s*\||\\(e|ef|ev|edit|gexec|setenv)\b|\x60|\bprogram\b`),
		pipes: true,
	}
	mysql := &language{
		data:  true,
		runs:  compiled(`(?mi)(^|;)\s*(system|pager|edit|tee)\b|\\[!PeT]`),
		shell: "system pager",
	}
	return map[string]*language{
		"vim": editor, "vi": editor, "nvim": editor, "gvim": editor, "view": editor, "vimdiff": editor, "ex": editor,
		"gdb": debugger, "lldb": debugger, "sqlite3": sqlite, "duckdb": sqlite, "psql": postgres, "mysql": mysql,
		"mariadb": mysql,
	}
})

func (r *reader) language(l *language, script string, s state) {
	unread := l.runs != nil && l.runs().MatchString(script)
	for _, word := range Names(script) { // it may run a file
		r.scripts = append(r.scripts, path.Base(word))
	}
	for line := range strings.SplitSeq(script, "\n") {
		unread = unread || l.plain != nil && !l.plain().MatchString(line)
		word, rest, _ := strings.Cut(strings.TrimLeft(line, ` .\:`), " ")
		for verb := range strings.FieldsSeq(l.shell) {
			if len(word) > 1 && strings.HasPrefix(verb, strings.ToLower(word)) && rest != "" {
				r.script(rest, s, true)
			}
		}
		if _, piped, ok := strings.Cut(line, "|"); ok && l.pipes && unread {
			r.script(strings.Trim(piped, `|'" `), s, true)
		}
	}
	r.line.Unread = r.line.Unread || unread
}
