package policyfuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Line returns a random command line. Many run rm, in forms that shells and tools know.
func Line(r *rand.Rand) string {
	g := generator{r}
	line := g.list(3)
	if r.IntN(3) == 0 {
		line = g.mutated(line)
	}
	return line
}

type generator struct{ *rand.Rand }

func (g *generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// list returns commands, joined or in a compound command.
func (g *generator) list(depth int) string {
	if depth == 0 {
		return g.simple(depth)
	}
	a, b := g.list(depth-1), g.simple(depth)
	switch g.IntN(22) {
	case 0:
		return a + g.pick("; ", " && ", " || ", " | ", "\n", " & ") + b
	case 1:
		return fmt.Sprintf("if %s; then %s; fi", g.pick("true", b), a)
	case 2:
		return fmt.Sprintf("for i in %s; do %s; done", g.pick("a", "a b", "rm", "$(echo rm)"), g.pick(a, "$i x",
			`"$i"`))
	case 3:
		return fmt.Sprintf("{ %s; }", a)
	case 4:
		return fmt.Sprintf("(%s)", a)
	case 5:
		return fmt.Sprintf("f() { %s; }; %s", a, g.pick("f", b, "f; f"))
	case 6:
		return fmt.Sprintf("case %s in a) %s;; *) %s;; esac", g.pick("a", "b"), a, b)
	case 7:
		return fmt.Sprintf("echo %s$(%s)%s", g.pick("", "a"), a, g.pick("", "b"))
	case 8:
		return fmt.Sprintf("echo \"`%s`\"", g.pick("rm x", "ls", "$X"))
	case 9:
		return fmt.Sprintf("%s=%s; %s; %s", g.pick("X", "Y"), g.pick("rm", "ls", "'rm x'", "r"), a, g.pick("$X", "$Y x",
			"${X}m", "\"$X\"", b))
	case 10:
		return g.shell() + " -c " + quote(a) + g.pick("", " _ rm x", " rm")
	case 11:
		return fmt.Sprintf("%s <<%s\n%s\nE", g.pick("sh", "bash", "bash -s", "cat", "cat | sh", "env sh"), g.pick("E",
			"'E'"), a)
	case 12:
		return fmt.Sprintf("%s %s | %s", g.pick("echo", "printf %s"), quote(a), g.pick("sh", "bash -s", "xargs",
			"xargs -0 sh -c", "env bash", "cat"))
	case 13:
		return fmt.Sprintf("eval %s", g.pick(a, quote(a)))
	case 14:
		return fmt.Sprintf("trap %s %s; %s", quote(a), g.pick("EXIT", "0", "DEBUG"), b)
	case 15:
		return fmt.Sprintf("while %s; do %s; break; done", g.pick("true", b), a)
	case 16:
		return fmt.Sprintf("cat %s(%s)", g.pick("<", "<"), a)
	case 17:
		return fmt.Sprintf("echo %s > s.sh; %s", quote(a), g.pick("sh s.sh", ". ./s.sh", "chmod +x s.sh && ./s.sh", b))
	case 18:
		return fmt.Sprintf("alias l=%s\nl x", g.pick("rm", "ls", quote(a)))
	case 19:
		return fmt.Sprintf("set -- %s; %s", g.pick("rm x", "ls"), g.pick("\"$@\"", "$1", "$*", b))
	}
	return b
}

func (g *generator) shell() string {
	return g.pick("sh", "bash", "dash", "bash -e", "sh -u", "bash -o errexit")
}

// simple returns a simple command, maybe behind a wrapper.
func (g *generator) simple(depth int) string {
	if g.IntN(3) == 0 {
		return g.program() + g.pick("", " x", " -rf x", " $X")
	}
	c := g.program() + g.pick("", " x")
	switch g.IntN(30) {
	case 0:
		return g.pick("env ", "env -i ", "env A=b ", "env -u A ", "env - ", "env -S ", "env -C / ", "env -- ",
			"env -iu A ", "env -vS ") + c
	case 1:
		return g.pick("nice ", "nice -n 5 ", "nice -5 ", "nice -n5 ", "nohup ", "setsid ", "setsid -w ", "stdbuf -oL ",
			"stdbuf -o L ") + c
	case 2:
		return g.pick("timeout 5 ", "timeout -k 1 5 ", "timeout -s KILL 5 ", "timeout --sig=KILL 5 ",
			"timeout --foreground 5 ") + c
	case 3:
		return g.pick("command ", "command -p ", "builtin command ", "exec ", "exec -a x ", "exec -cl ", "time ",
			"time -p ", "! ", "command -v ") + c
	case 4:
		return "find . -maxdepth 0 " + g.pick("-exec ", "-execdir ", "-name x -o -exec ", "-true -ok ") + c +
			g.pick(` {} \;`, " {} +", ` \;`, ` {} ';'`)
	case 5:
		return "find /bin/rm /bin/ls -exec " + g.pick("{}", "env {}", "sh -c '{} x'", "sh -c '$0'",
			"sh -c '\"$1\"' _") + g.pick(` \;`, ` {} \;`)
	case 6:
		return "echo x | xargs " + g.pick("", "-n 1 ", "-n1 ", "-I{} ", "-I % ", "-0 ", "-t ", "-r ", "-P 2 ",
			"--max-args=1 ", "--max-arg 1 ") + c
	case 7:
		return "echo rm x | xargs " + g.pick("", "env", "sh -c", "-I{} {}", "-I{} sh -c {}", "-I% sh -c '% y'", "nice",
			"-n1 env", "timeout 5")
	case 8:
		return "sed " + g.pick("", "-n ", "-e p -e ") + quote(g.pick("1e ", "e ", "$e ", "/./e ",
			"{p;e ")+g.word()+" x"+g.pick("", "\n}")) + " f"
	case 9:
		return "sed " + quote("s/./"+g.word()+" x/"+g.pick("e", "ge", "", "g", "pe", "2")) + " f"
	case 10:
		return g.pick("awk ", "mawk ") + quote("BEGIN { "+g.pick(`system("%s x")`, `print "a" | "%s x"`,
			`"%s" | getline`, `print "%s"`, `system("r" "m x")`)+" }")
	case 11:
		return "tar cf o.tar " + g.pick("--checkpoint=1 --checkpoint-action=exec=", "--use-compress-program=",
			"--use-comp=", "-I ",
			"--checkpoint=1 --checkpoint-act=exec=", "--info-script=", "-F ") + quote(g.word()+g.pick("", " x")) + " f"
	case 12:
		return "tar " + g.pick("cfI o.tar ", "-cIf ", "cIf ") + g.word() + g.pick(" f", " o.tar f")
	case 13:
		return "sort --compress-program=" + g.word() + " -S 1 f"
	case 14:
		return "split " + g.pick("--filter=", "--filt=", "--filter ") + quote(g.word()+" x") + " f"
	case 15:
		return g.pick("A=b ", "A= B=c ", ">/dev/null ", "2>&1 ", "</dev/null ", "X=rm ") + c
	case 16:
		return g.pick("X=rm ", "PATH=/opt ", "PATH=/opt:$PATH ", "BASH_ENV=rm.sh ", "ENV=rm.sh ") +
			g.pick("sh -c '$X x'", "link x", "ls", "bash -c true", c)
	case 17:
		return g.pick("cp /bin/rm z; ./z", "ln -s /bin/rm z; ./z", "cat /bin/rm > z; chmod +x z; ./z", "./link x",
			"../opt/link x", "cd ..; opt/link x", "sh -c ./link")
	case 18:
		return "echo {" + g.word() + ",x}; {" + g.word() + ",-rf,x}"
	case 19:
		return g.pick("[[ -n $(rm) ]]", "((rm))", "[[ a || rm ]]", "ls &> /dev/null rm", "((ls); rm)", "(( $(rm) ))",
			"echo $(( $(rm) + 0 ))", "a=($(rm))", "echo ${X:-$(rm)}", "X='$(rm)'; echo ${X@P}", "let 'a[$(rm)]=1'",
			"X='a[$(rm)]'; (( X ))", "echo ${X:=$(rm)}", "declare -i X='a[$(rm)]'", "[[ -v 'a[$(rm)]' ]]",
			"printf -v 'a[$(rm)]' x", "test -v 'a[$(rm)]'",
			"read 'a[$(rm)]' <<< x", "unset 'a[$(rm)]'", "X='a[$(rm)]'; echo $((X))", "X='a[`rm`]'; [[ X -eq 0 ]]",
			"X='a[$(rm)]'; echo ${b[X]}", "PS4='$(rm)'; set -x; ls")
	case 20:
		return g.pick("hash -p /bin/rm l; l", "mapfile -C rm -c 1 a < f", "compgen -C 'rm x'", "coproc rm x; wait",
			"coproc N { rm x; }; wait", "type rm", "enable -n echo; rm")
	case 21:
		return g.pick("flock l ", "flock -n l ", "flock l -c ", "flock -c ", "flock -w 1 l ", "taskset 1 ",
			"taskset -c 0 ", "ionice -c3 ", "chrt -o 0 ", "prlimit ", "setpriv ", "script -qc ", "setarch -R ",
			"linux64 ", "unshare ", "choom -n 5 -- ") + c
	case 22:
		return g.pick("X=ls; X=rm; $X", "X=ls; for X in rm; do $X; done", "X=ls; read X <<< rm; $X",
			"X=ls; f() { X=rm; }; f; $X", "X=ls; eval X=rm; $X", "X=ls; printf -v X rm; $X",
			"X=ls; : ${Y:=rm}; $Y", "X=ls; declare -n Z=X; Z=rm; $X", "X=ls; unset X; ${X:-rm}",
			"X=ls; X+=; X=${X/ls/rm}; $X", "X=l; X+=s; $X", "X=ls; (X=rm; $X)", "X=ls true; $X", "X=ls; . ./v.sh; $X",
			"X=ls; getopts rm X -r; $X", "X=ls; mapfile -t X <<< rm; $X", "X=ls; if ls; then X=rm; fi; $X",
			"X=ls; ls && X=rm; $X", "X=ls; while $X; do X=rm; done", "X=ls; trap X=rm DEBUG; $X",
			"export X=ls; X=rm; $X", "X=ls; export X=rm; $X", "local X=ls; X=rm; $X", "readonly X=rm; X=ls; $X")
	case 23:
		return g.shell() + " " + g.pick("s.sh", "./s.sh", "-s x < rm.sh", "< rm.sh", "-c 'rm' x", "-xc rm", "-c -- rm",
			"+x -c rm", "--norc -c rm", "-c \"$0\" rm", "-o noglob -c rm")
	case 24:
		return g.pick("strace -o ", "strace -fo", "strace -qo ", "strace --output=") + quote(g.pick("|", "!", "")+g.word()+" x") +
			" ls"
	case 25:
		return "sqlite3 :memory: " + quote(g.pick(".sh ", ".shell ", ".sys ", ".once |", ".o |", ".output \"|", ".read \"|",
			".import \"|", "select 1; .sh ", ".print ")+g.word()+" x"+g.pick("", "\" t")) + g.pick("", " 'select 1'")
	case 26:
		return g.pick("ed ", "ed -s ", "ed -p x ") + g.pick(quote("!"+g.word()+" x"), "f <<< "+quote("!"+g.word()+" x"),
			"<<E\n!"+g.word()+" x\nE", "f <<< "+quote("r !"+g.word()+" x"))
	case 27:
		code := g.pick(
			`system "rm x"`, `exec "rm", "x"`, `qx(rm x)`, `print "rm"`, `open F, "|rm x"`, "`rm x`", `do "rm"`,
		)
		return "perl " + g.pick("-e ", "-we ", "-E ", "-le ", "-M'strict;'", "-ne ", "-I. -e ") +
			quote(strings.ReplaceAll(code, "rm", g.word())) + g.pick("", " f", " -e1")
	case 28:
		return g.pick("zip -q z f -T -TT ", "zip -qT -TT ", "zip -q z f --unzip-command=") + quote(g.word()+" x") + g.pick("",
			" z f")
	}
	return c
}

// program returns a program in some spelling.
func (g *generator) program() string {
	if g.IntN(3) == 0 {
		return g.pick("ls", "echo a", "true", "grep rm", "echo rm", "cat f", "printf rm")
	}
	return g.word()
}

func (g *generator) word() string {
	return g.pick("rm", "rm", "rm", `r\m`, `\rm`, `'rm'`, `"rm"`, `r''m`, `$'rm'`, `$'\x72m'`, "/bin/rm", "/bin/r?",
		"/*/rm", "$(echo rm)", "`echo rm`", "${X:-rm}", "$X",
		"../bin/rm", "//bin//rm", "r${X}m", "r$(:)m", "{rm,}", "r{m,}", "$\"rm\"", "r\\\nm", "./link", "ls", "ls",
		"true", "/bin/[r]m", "~/../bin/rm")
}

// mutated returns a line with some characters changed.
func (g *generator) mutated(line string) string {
	for range 1 + g.IntN(3) {
		if line == "" {
			return line
		}
		at := g.IntN(len(line))
		switch g.IntN(3) {
		case 0:
			line = line[:at] + g.pick(" ", "'", `"`, `\`, "$", "`", ";", "|", "&", "(", ")", "{", "}", "<", ">", "\n",
				"#", "!", "=", "*", "-", "rm", " rm ", "--") + line[at:]
		case 1:
			line = line[:at] + line[at+1:]
		case 2:
			to := at + g.IntN(len(line)-at)
			line = line[:to] + line[at:]
		}
	}
	return line
}

// quote returns a text in single quotes.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
