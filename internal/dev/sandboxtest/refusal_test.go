//go:build sandbox

package sandboxtest

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// A line that is refused before it runs does not do its work in the sandbox; one that does is not refused.
func TestARefusedLineFailsInTheSandbox(t *testing.T) {
	lines := map[string][2]bool{ // refused in workspace, in read-only
		"echo x > a": {false, true},
		"mkdir -p d/e && touch d/e/f && cp d/e/f b":   {false, true},
		"sed -i s/content/c/ file":                    {false, true},
		"printf x | tee c > /dev/null":                {false, true},
		"ln -sf file l && mv l m && rm m":             {false, true},
		"git init -q new":                             {false, true},
		"echo x > /tmp/a && cp /tmp/a /var/tmp/b":     {false, false},
		"mkdir -p HOME/.cache/y && echo > /dev/null":  {false, false},
		"echo x > HOME/.cache/x":                      {false, false},
		"echo x > HOME/.cache/go-build/x":             {false, true},
		"echo x > /dev/shm/a":                         {false, false},
		"rm -f /usr/share/missing":                    {false, false},
		"rm -f HOME/.ssh/id_missing HOME/.netrc.no":   {false, false},
		"mkdir -p HOME/out":                           {false, false},
		"cat HOME/.bashrc > /dev/null":                {false, false},
		"(echo x > /usr/share/a) 2>/dev/null || true": {false, false},
		"! cp file /usr/share/a 2>/dev/null":          {false, false},
		"if touch /usr/share/a; then false; fi":       {false, false},
		"test -e missing && touch /usr/share/a; true": {true, true},
		"echo x > /usr/share/a":                       {true, true},
		"echo x >> HOME/.bashrc":                      {true, true},
		"echo x > HOME/.ssh/new":                      {true, true},
		"echo x >> .git/config":                       {true, true},
		"echo x > .git/hooks/post-commit":             {true, true},
		"cp file HOME/out/a":                          {true, true},
		"mv HOME/out/file a":                          {true, true},
		"rm HOME/out/file":                            {true, true},
		"rm -rf HOME/out":                             {true, true},
		"mkdir HOME/out/d":                            {true, true},
		"touch HOME/out/file":                         {true, true},
		"truncate -s 0 HOME/out/file":                 {true, true},
		"chmod 600 HOME/out/file":                     {true, true},
		"tee HOME/out/a < file":                       {true, true},
		"ln -s /x HOME/out/l":                         {true, true},
		"install -m 600 file HOME/out/i":              {true, true},
		"sed -i s/a/b/ HOME/out/file":                 {true, true},
		"git init -q HOME/out/new":                    {true, true},
		"cd HOME/out && echo x > a":                   {true, true},
		"bash -lc 'echo x > HOME/out/a'":              {true, true},
		"timeout 20 cp file HOME/out/a":               {true, true},
		"su -c true < /dev/null":                      {true, true},
		"curl -s --max-time 5 http://192.0.2.1/":      {true, true},
		"git clone -q https://192.0.2.1/a e":          {true, true},
	}
	for i, s := range []protocol.Sandbox{
		{Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff},
		{Mode: protocol.SandboxReadOnly, Network: protocol.SandboxNetworkOff},
	} {
		h := newHome(t)
		h.git()
		h.write("out/file", "")
		for line, want := range lines {
			line = strings.ReplaceAll(line, "HOME", h.dir)
			a := protocol.Approval{Kind: protocol.ApproveCommand, Command: line, CWD: h.cwd}
			var why error
			effects := policy.Effects(&a)
			for i := range effects {
				if err := h.box(s).Refuses(&effects[i]); err != nil {
					why = err
				}
			}
			if (why != nil) != want[i] {
				t.Errorf("%s: %s: refused: %v", s.Mode, line, why)
			}
			out := h.run(s, line+" && echo DONE")
			if done := strings.Contains(out, "DONE"); done == want[i] && !strings.HasSuffix(line, "; true") {
				t.Errorf("%s: %s: done: %t: %s", s.Mode, line, done, out)
			}
		}
	}
}
