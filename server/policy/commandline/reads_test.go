package commandline

import (
	"slices"
	"testing"
)

func TestLinesThatOnlyRead(t *testing.T) {
	for _, line := range []string{
		"ls", "ls -la src", "cat a b | head -20", "git status --short && git diff --stat", "git log --oneline -n 5 -- a.go",
		"git log -3 --format='%h %s'", "git show HEAD:a.go", "rg -n 'a|b' src | wc -l", "find . -name '*.go' -type f",
		"grep -rn \"func main\" .", "git branch --show-current", "git diff HEAD~1", "pwd; ls", "git log -S 'x' -p", "find . ! -name a",
	} {
		if _, ok := Reads(line); !ok {
			t.Errorf("%s is refused", line)
		}
	}
	words, _ := Reads("cat 'a b' | head -n 3")
	if !slices.Equal(words, []string{"cat", "a b", "head", "-n", "3"}) {
		t.Errorf("words %q", words)
	}
}

func TestLinesThatDoMoreThanRead(t *testing.T) {
	for _, line := range []string{
		"", "rm a", "ls > a", "ls >> a", "cat < a", "ls &", "! ls", "X=1 ls", "cat $HOME", "cat $(ls)", "cat `ls`", "ls *.go", "ls a?",
		"ls ~", "ls {a,b}", "if ls; then ls; fi", "(ls)", "f() { ls; }", "git log --output=x", "git log --output x", "git log --ext-diff",
		"git diff --textconv", "git -c core.pager=x log", "git -C /x log", "git --exec-path=x log", "git branch new", "git branch -D a",
		"git branch -- new", "git push", "git commit -m x", "git", "git log --show-signature", "find . -delete", "find . -exec rm {} ';'",
		"find . -fprint a", "find . -ok ls ';'", "rg --pre x y", "rg -z x", "sort -o a b", "sort --compress-program=x a", "tail -f a",
		"diff -l a b", "file -C -m a", "env ls", "sh -c ls", "ls | sh", "ls; rm a", "ls && rm a", "/bin/ls", "./ls", "git log -O x",
		"git diff --no-index a b", "ls \"$X\"", "cat $'a'", "cat <<X\na\nX", "git rev-parse --parseopt",
		"git grep -Ovi a", "xargs ls", "awk 1", "sed -n 1p a", "date -s 1", "uniq a b", "time ls", "exec ls", "eval ls", ". a", "ls\nrm a",
	} {
		if _, ok := Reads(line); ok {
			t.Errorf("%q is admitted", line)
		}
	}
}
