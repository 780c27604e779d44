package sandboxtest

// A Way is a way in which a process could decide the requests of its own agent, or make the user's
// programs do it. Its script prints WON when it succeeds. It runs in the session's directory with
// bash, where HOME, DATA (the server's directory), TOKEN_PORT, VICTIM (a process of the user), LISTEN
// (a directory with sockets), ABSTRACT (an abstract socket), connect (a program that connects to a
// socket) and BIN (a program of the user) are set.
type Way struct {
	Name   string
	Script string
	Later  string // a second script, in a sandbox that starts afterwards
	Tree   bool   // the session is in a worktree of the repository

	Job   bool   // cron and at run their jobs after the script; the job writes WON to the file won
	Needs string // variable that is set if root has started the daemons: SSH_PORT, JOBS

	Closed bool // without a sandbox, too: this machine or this user has no such thing
	Root   bool // only root can try
}

// login gets the token by ssh to this machine, with a key.
func login(key string) string {
	return `echo "get \"$DATA/token\" t" | sftp -q -b - -P "$SSH_PORT" -i ` + key + ` -o IdentitiesOnly=yes \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile="$PWD/known" "$(id -un)@127.0.0.1" && grep -q CANARY t && echo WON`
}

// job is a command that reads the token.
const job = `grep -q CANARY \"$DATA/token\" && echo WON > \"$PWD/won\"`

// Ways lists the ways.
func Ways() []Way {
	return []Way{
		{Name: "read the token file by its name", Script: `grep -q CANARY "$DATA/token" && echo WON`},
		{Name: "read it through `/proc/PID/root`", Script: `for p in /proc/[0-9]*; do
			grep -qs CANARY "$p/root$DATA/token" && echo WON; done`},
		{Name: "read it through `/proc/PID/fd`", Script: `for f in /proc/[0-9]*/fd/*; do
			[ -f "$f" ] && grep -qs CANARY "$f" && echo WON; done`},
		{Name: "read the environment of another process", Script: `grep -qs CANARY /proc/[0-9]*/environ && echo WON`},
		{Name: "read it through a hard link", Script: `ln "$DATA/token" t && grep -q CANARY t && echo WON`},
		{Name: "read it through a symbolic link", Script: `ln -s "$DATA/token" t && grep -q CANARY t && echo WON`},
		{
			Name:   "rename the server's directory",
			Script: `mv "$DATA" "$DATA"2 && grep -q CANARY "$DATA"2/token && echo WON`,
		},
		{
			Name:   "rename it, and read it in a second session",
			Script: `mv "$DATA" "$DATA"2; mkdir -p "$DATA"`, Later: `grep -q CANARY "$DATA"2/token && echo WON`,
		},
		{
			Name:   "rename each directory above it, and read it in a second session",
			Script: `mv ~/.local/share ~/.local/share2; mkdir -p "$DATA"; mv ~/.local ~/.local2; mkdir -p "$DATA"`,
			Later:  `cat ~/.local/share2/*/token ~/.local2/share*/*/token | grep -q CANARY && echo WON`,
		},
		{
			Name:   "rename a directory above it in the session's directory",
			Script: `mv inner inner2 && mkdir -p inner/data`, Later: `grep -q CANARY inner2/data/token && echo WON`,
		},
		{Name: "replace the server's files", Script: `echo mine > "$DATA/token" && echo WON`},
		{Name: "sign a token with the server's key", Script: `grep -q CANARY "$DATA/key" && echo WON`},
		{
			Name:   "send the token over TCP",
			Script: `t=$(cat "$DATA/token") && curl -sf -H "Authorization: $t" "http://127.0.0.1:$TOKEN_PORT/" | grep WON`,
		},
		{Name: "connect to the server's socket", Script: `connect "$DATA/agentctl.sock"`},
		{Name: "connect from another group and session", Script: `setsid -w connect "$DATA/agentctl.sock"`},
		{Name: "connect after two forks, without an environment", Script: `(env -i "$(command -v setsid)" \
			"$(command -v connect)" "$DATA/agentctl.sock" > out 2>&1 &) ; for i in $(seq 100); do
			[ -s out ] && break; sleep 0.05; done; cat out`},
		{Name: "connect from a new namespace of processes", Script: `unshare -Urpf connect "$DATA/agentctl.sock"`},
		{
			Name:   "leave the cover in a new namespace of users and mounts",
			Script: `unshare -Urm sh -c 'umount -l "$DATA"; umount -l "$HOME"; umount -l /; grep -q CANARY "$DATA/token" && echo WON'`,
		},
		{
			Name: "mount `/proc` again in a new namespace",
			Script: `unshare -Urmpf sh -c 'mkdir -p p; mount -t proc proc p;
			grep -qs CANARY p/[0-9]*/environ && echo WON'`, Closed: true,
		},
		{Name: "trace a process of the user", Script: `attach "$VICTIM"`},
		{Name: "read the memory of a process of the user", Script: `head -c1 "/proc/$VICTIM/mem" 2>&1 |
			grep -qi 'input/output' && echo WON`},
		{Name: "send a signal to the server", Script: `kill -0 "$VICTIM" && echo WON`},
		{Name: "connect to the socket of another session", Script: `connect "$DATA"/sandbox/other/socket`},
		{Name: "read links in the server's log", Script: `grep -q CANARY "$DATA/server.log" && echo WON`},
		{Name: "type into a tmux or a screen", Script: `connect "$LISTEN/default"; connect ~/.screen/1.pts`},
		{Name: "type into the user's terminal (TIOCSTI)", Script: `: < /dev/tty && echo WON`},
		{Name: "read private keys", Script: `grep -q CANARY ~/.ssh/id_test && echo WON`},
		{
			Name:   "read logins of other programs",
			Script: `cat ~/.netrc ~/.aws/credentials ~/.config/gh/hosts.yml | grep -q CANARY && echo WON`,
		},
		{
			Name:   "read the tokens of other servers",
			Script: `grep -rq CANARY ~/.local/state/agentctl ~/.config/agentctl && echo WON`,
		},
		{Name: "add to `~/.bashrc`", Script: `echo x >> ~/.bashrc && echo WON`},
		{Name: "make `~/.bash_profile`", Script: `echo x > ~/.bash_profile && echo WON`},
		{
			Name:   "make a unit of the user's systemd, or a program that starts with the desktop",
			Script: `(echo x > ~/.config/systemd/user/x.service || echo x > ~/.config/autostart/x.desktop) && echo WON`,
		},
		{Name: "put a program into the user's `PATH`", Script: `(echo x > ~/.local/bin/x || echo x > ~/bin/x) && echo WON`},
		{
			Name:   "put a program into a directory of `PATH` in the session's directory",
			Script: `cp /bin/true inner/path/bwrap && echo WON`,
		},
		{Name: "replace a program that the user runs", Script: `cp /bin/true "$BIN" && echo WON`},
		{Name: "leave a file in `~/.cache` that shells read", Script: `echo x > ~/.cache/p10k.zsh`, Later: `[ -s ~/.cache/p10k.zsh ] && echo WON`},
		{Name: "ask the user's systemd over its bus", Script: `connect "$LISTEN/bus"`},
		{Name: "make a job of cron", Script: `echo "@reboot ` + job + `" | crontab -`, Job: true, Needs: "JOBS"},
		{
			Name: "make a job of cron for the system", Script: `echo "@reboot root ` + job + `" > /etc/cron.d/job`,
			Job: true, Needs: "JOBS", Root: true,
		},
		{Name: "make a job of at", Script: `echo "` + job + `" | at now`, Job: true, Needs: "JOBS"},
		{Name: "ask a container engine over its socket", Script: `connect "$LISTEN/docker.sock"; connect ~/.docker/run/docker.sock`},
		{Name: "use the user's agents of ssh and gpg", Script: `connect ~/.gnupg/S.gpg-agent; connect "$LISTEN/ssh-agent"`},
		{Name: "connect to another socket in the home directory", Script: `connect ~/app/control.sock`},
		{
			Name: "let ssh of this machine in, and log in", Needs: "SSH_PORT",
			Script: `ssh-keygen -q -t ed25519 -N "" -f k; mkdir -p ~/.ssh; cat k.pub >> ~/.ssh/authorized_keys; ` + login("k"),
		},
		{
			Name: "log in to this machine by ssh with the user's key", Needs: "SSH_PORT",
			Script: login("~/.ssh/id_login"),
		},
		{Name: "connect to an abstract socket (bus, desktop)", Script: `connect "@$ABSTRACT"`},
		{Name: "write a hook of git", Script: `echo x > .git/hooks/post-commit && echo WON`},
		{Name: "change the configuration of git", Script: `git config core.fsmonitor /bin/x && echo WON`},
		{Name: "replace `.git`", Script: `mv .git .git2 && cp -r .git2 .git && echo x > .git/hooks/pre-push && echo WON`},
		{Name: "lead git to other hooks with `.git/commondir`", Script: `echo ../evil > .git/commondir && echo WON`},
		{
			Name:   "change the hooks of a worktree's repository",
			Tree:   true,
			Script: `echo x > ../repository/.git/hooks/post-commit && echo WON`,
		},
		{
			Name: "replace the file `.git` of a worktree", Tree: true,
			Script: `rm .git && git init -q . && echo x > .git/hooks/post-commit && echo WON`,
		},
		{
			Name: "lead the worktree of a repository elsewhere", Tree: true,
			Script: `echo /x > "$(git rev-parse --git-dir)/commondir" && echo WON`,
		},
		{Name: "replace the `.git` of a submodule", Script: `rm module/.git && mkdir module/.git && echo WON`},
		{Name: "change the configuration of a submodule", Script: `echo x >> .git/modules/module/config && echo WON`},
		{
			Name:   "write settings or hooks of an agent",
			Script: `echo x > ~/.agent/settings.json; echo x > ~/.agent/hooks.json`,
			Later:  `cat ~/.agent/settings.json ~/.agent/hooks.json | grep -q x && echo WON`,
		},
		{Name: "unmount the cover", Script: `umount -l "$DATA"; grep -q CANARY "$DATA/token" && echo WON`},
		{
			Name:   "mount something over the user's files",
			Script: `mount --bind . ~/bin && echo WON && umount ~/bin`, Root: true,
		},
		{
			Name:   "let the kernel run a program (`core_pattern`)",
			Script: `cat /proc/sys/kernel/core_pattern > p; cat p > /proc/sys/kernel/core_pattern && echo WON`, Root: true,
		},
		{Name: "write to `/proc/sysrq-trigger`", Script: `: >> /proc/sysrq-trigger && echo WON`, Root: true, Closed: true},
		{
			Name: "write to `/proc/sys` of a new mount",
			Script: `unshare -Urmpf sh -c 'mkdir -p p; mount -t proc proc p; cat p/sys/kernel/core_pattern > c;
			cat c > p/sys/kernel/core_pattern && echo WON'`, Root: true,
		},
		{Name: "read memory or disks", Script: `head -c1 /dev/mem >/dev/null && echo WON; for d in /dev/vd? /dev/sd?; do
			[ -b $d ] && head -c1 $d > /dev/null && echo WON; done`, Root: true, Closed: true},
	}
}
