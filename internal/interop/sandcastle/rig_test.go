//go:build interop

package sandcastle

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// patience bounds every wait for what is not ours.
const patience = 60 * time.Second

// binary is the program itself, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "agentctl")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "agentctl")
	if out, err := exec.Command("go", "build", "-o", binary, "agentctl/cmd/agentctl").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build agentctl: %v\n%s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// play is what the agent does; GATE is a file that it waits for.
const play = `
{"on":"hello"}
{"think":"a greeting"}
{"tool":"shell","id":"call{n}","title":"ls","input":{"command":"ls"},"output":"a b c","exit":0}
{"say":"Hello yourself."}
{"on":"gated"}
{"say":"one two three ","words":1}
{"wait":"file:GATE"}
{"say":"four five six","words":1}
{"on":"hang"}
{"say":"working"}
{"wait":"never"}
{"on":"much"}
{"burst":4000,"size":500}
{"on":"ask"}
{"say":"May I?"}
{"ask":"command","request":"r{n}","command":"rm -rf build","title":"Remove","then":[{"say":"Removed it."}],"else":[{"say":"Kept it."}]}
{"on":"choose"}
{"ask":"question","request":"q{n}","title":"Which?","questions":[{"id":"branch","text":"Which branch?","choices":[{"id":"main","label":"the main one"}]}],"then":[{"say":"Took {answers}."}]}
{"on":"fail"}
{"say":"so far"}
{"fail":"it broke"}
{"on":"every"}
{"think":"first "}
{"say":"I look. "}
{"tool":"query","id":"a{n}","title":"Query","input":{"q":"all"},"stream":true,"output":"some rows","words":1}
{"tool":"read","id":"b{n}","title":"Read","input":{"path":"no"},"status":"failed","error":"there is none"}
{"tool":"edit","id":"c{n}","title":"Edit","input":{"path":"f"},"status":"denied"}
{"usage":{"input":5,"output":6,"cached":2,"cost":0.25,"currency":"USD","model":"m"}}
{"emit":"agent.options","data":{"settings":[{"id":"mode","name":"Mode","value":"plan","choices":[{"id":"plan","label":"Plan"},{"id":"build","label":"Build"}]}]}}
{"ask":"command","request":"e{n}","command":"rm -rf build","title":"Remove"}
{"fail":"it broke"}
{"on":"rich"}
{"think":"first "}
{"say":"I look. "}
{"tool":"shell","id":"a{n}","title":"List","input":{"command":"ls"},"output":"build src\n","words":1}
{"tool":"read","id":"b{n}","title":"Read","input":{"path":"no"},"status":"failed","error":"there is none"}
{"tool":"edit","id":"c{n}","title":"Edit","input":{"path":"f"},"content":[{"type":"diff","path":"f","old":"a","new":"b"}]}
{"tool":"query","id":"d{n}","input":{"q":"all"},"stream":true,"result":{"rows":3}}
{"tool":"make","id":"e{n}","title":"Make","input":{"target":"all"},"output":"compiling ","open":true}
{"tool":"make","id":"e{n}","title":"Make all","output":"done"}
{"think":"and then"}
{"say":"Done."}
`

// A world is the program as a server, with one session.
type world struct {
	t       *testing.T
	dir     string
	gate    string
	addr    string // where Sandcastle's clients come in; the same after a restart
	session string
	cmd     *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), addr: "127.0.0.1:0"}
	w.gate = filepath.Join(w.dir, "gate")
	must(t, os.WriteFile(filepath.Join(w.dir, "play"), []byte(strings.ReplaceAll(play, "GATE", w.gate)), 0o600))
	w.start()
	t.Cleanup(w.stop)
	w.session = do[protocol.CreateResult](t, w.native(), protocol.DoCreate, "", protocol.CreateData{Name: "abc"}).Session
	return w
}

func (w *world) start() {
	w.t.Helper()
	w.cmd = exec.Command(binary, "serve", "--data", filepath.Join(w.dir, "data"), "--default-agent", "script:"+filepath.Join(w.dir, "play"),
		"--listen-dialect", "sandcastle="+w.addr+",open", "-o", "json")
	stdout, err := w.cmd.StdoutPipe()
	must(w.t, err)
	must(w.t, w.cmd.Start())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	must(w.t, err)
	var ready struct{ Dialects map[string][]string }
	must(w.t, json.Unmarshal(line, &ready))
	u, err := url.Parse(ready.Dialects["sandcastle"][0])
	must(w.t, err)
	w.addr = u.Host
}

func (w *world) stop() {
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("the server: %v", err)
	}
}

// kill ends the server as a crash does.
func (w *world) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// open lets the agent go on.
func (w *world) open() { must(w.t, os.WriteFile(w.gate, nil, 0o600)) }

// native connects in the native protocol.
func (w *world) native() *wsclient.Client {
	return connect(w.t, "unix://"+filepath.Join(w.dir, "data", "agentctl.sock"), wsclient.Options{Name: "ann"})
}

// over connects to a server of Sandcastle, ours or theirs.
func over(t *testing.T, addr string, o wsclient.Options) *wsclient.Client {
	o.Dialect, o.Name = "sandcastle", "ada"
	return connect(t, "ws://"+addr+"/ws", o)
}

func connect(t *testing.T, to string, o wsclient.Options) *wsclient.Client {
	c := wsclient.New(to, o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// do does a command that must succeed.
func do[R any](t *testing.T, c *wsclient.Client, verb protocol.Verb, session string, data any) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := wsclient.Call[R](ctx, c, verb, session, data)
	if err != nil {
		t.Fatalf("%s: %v", verb, err)
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
