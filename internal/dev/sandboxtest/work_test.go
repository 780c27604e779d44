//go:build sandbox

package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/process"
)

// work lists ordinary commands of agents. Each prints DONE at its end. The commands with a
// connection need the network.
var work = []struct {
	name, script string
	network      bool
	tree         bool // in a worktree
}{
	{name: "git commit and switch", script: `git switch -qc topic && echo x >> file && git commit -qam change &&
		git switch -q - && git stash list && git merge -q topic && git worktree list && git submodule status && echo DONE`},
	{name: "git fetch and push over ssh", network: true, script: `git remote add o "ssh://root@127.0.0.1:$SSH_PORT$BASE/remote.git" 2>/dev/null
		git -c core.sshCommand="ssh -i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=$PWD/known -o BatchMode=yes" \
		push -q "ssh://root@127.0.0.1:$SSH_PORT$BASE/remote.git" HEAD:refs/heads/"$NAME" &&
		git -c core.sshCommand="ssh -i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=$PWD/known -o BatchMode=yes" \
		fetch -q "ssh://root@127.0.0.1:$SSH_PORT$BASE/remote.git" "$NAME" && echo DONE`},
	{name: "git in a worktree", tree: true, script: `echo y > new && git add new && git commit -qm new && echo DONE`},
	{name: "npm ci", script: `mkdir -p js/part && cd js && echo '{"name":"part","version":"1.0.0"}' > part/package.json &&
		echo '{"name":"js","version":"1.0.0","dependencies":{"part":"file:part"}}' > package.json &&
		npm install --silent --offline --no-audit && rm -rf node_modules && npm ci --silent --offline --no-audit &&
		node -e 'require.resolve("part/package.json")' && echo DONE`},
	{name: "go test", script: `mkdir -p gop && cd gop && printf 'module x\n\ngo 1.26\n' > go.mod && printf 'package x\n\nimport "testing"\n\nfunc TestX(t *testing.T) { t.TempDir() }\n' > x_test.go &&
		GOFLAGS=-mod=mod GOTOOLCHAIN=local go test ./... && echo DONE`},
	{name: "pip install", script: `/usr/bin/python3 -m venv v && mkdir -p py/part && touch py/part/__init__.py &&
		printf 'from setuptools import setup\nsetup(name="part", version="1", packages=["part"])\n' > py/setup.py &&
		v/bin/pip install -q --no-index --no-build-isolation --disable-pip-version-check ./py && v/bin/python -c 'import part' && echo DONE`},
	{name: "python and processes", script: `/usr/bin/python3 -c 'import multiprocessing as m
if __name__ == "__main__":
    with m.Pool(2) as p: print(sum(p.map(abs, [-1, 2])))' && echo DONE`},
	{name: "make a service and call it", script: `/usr/bin/python3 -m http.server -b 127.0.0.1 18473 >/dev/null 2>&1 & p=$!
		for i in $(seq 200); do curl -sf http://127.0.0.1:18473/file && break; sleep 0.1; done; kill $p; echo DONE`},
	{name: "a request to a server of this machine", network: true, script: `curl -sf "http://127.0.0.1:$TOKEN_PORT/" && echo DONE`},
	{name: "reach the server by the session's socket", script: `[ -z "$AGENTCTL_SERVER" ] ||
		connect "${AGENTCTL_SERVER#unix://}"; echo; [ -z "$AGENTCTL_SERVER" ] || [ -z "$SSH_AUTH_SOCK" ] && echo DONE`},
	{name: "a browser", script: `echo '<script>document.write("pa"+"ge")</script>' > page.html &&
		chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --virtual-time-budget=5000 \
		--user-data-dir="$(mktemp -d)" --dump-dom "file://$PWD/page.html" 2>/dev/null > dom; grep -q page dom && echo DONE`},
	{name: "its own processes, memory and terminal", script: `test $$ -gt 1 && ps > /dev/null && : > "/dev/shm/$NAME" && rm "/dev/shm/$NAME" && : > "/tmp/$NAME" && rm "/tmp/$NAME" &&
		script -qec true /dev/null > /dev/null && echo DONE`},
}

func TestOrdinaryWorkIsDoneInsideAsOutside(t *testing.T) {
	for _, w := range work {
		t.Run(w.name, func(t *testing.T) {
			for _, s := range modes[:3] {
				if w.network && s.Network == protocol.SandboxNetworkOff {
					continue
				}
				t.Run(string(s.Mode)+" "+string(s.Network), func(t *testing.T) {
					h := newHome(t)
					h.git()
					h.work()
					if w.tree {
						h.cwd = filepath.Join(h.dir, "work/tree")
					}
					if strings.Contains(w.script, "SSH_PORT") && os.Getenv("SSH_PORT") == "" {
						return // only root can start an sshd that lets another user in
					}
					if out := h.run(s, w.script); !strings.Contains(out, "DONE") {
						t.Error(out)
					}
				})
			}
		})
	}
}

// work prepares the home for ordinary work.
func (h *home) work() {
	h.write(".gitconfig", "[user]\n\tname = a\n\temail = a@example.org\n")
	key, err := os.ReadFile(filepath.Join(os.Getenv(baseVariable), "key"))
	if err == nil {
		path := filepath.Join(h.cwd, "key")
		if err := os.WriteFile(path, key, 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	h.env = append(h.env, "BASE="+os.Getenv(baseVariable), "NAME="+filepath.Base(h.dir))
}

// BenchmarkStart starts a program, and waits for its end: without a sandbox and in one.
func BenchmarkStart(b *testing.B) {
	h := newHome(b)
	h.git()
	for _, s := range modes[:2] {
		b.Run(string(s.Mode), func(b *testing.B) {
			box := h.box(s)
			for b.Loop() {
				p, err := box.Start(process.Command{Args: []string{"true"}, Dir: h.cwd, Env: h.env})
				if err != nil {
					b.Fatal(err)
				}
				<-p.Done()
				p.End(0)
				p.Release()
			}
		})
	}
}
