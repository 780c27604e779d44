//go:build interop

package sandcastle

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m)) }

// agentScript is the script of the server's agent. GATE is replaced by the path of a file that the
// agent waits for.
const agentScript = `
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

// A testServer is agentctl as a server of Sandcastle's dialect, with one session.
type testServer struct {
	t       *testing.T
	dir     string
	gate    string // file that opens the script's gate
	addr    string // Sandcastle listener; the same after a restart
	session string
	process *interoptest.Server
}

func newTestServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{t: t, dir: t.TempDir(), addr: "127.0.0.1:0"}
	s.gate = filepath.Join(s.dir, "gate")
	script := strings.ReplaceAll(agentScript, "GATE", s.gate)
	interoptest.Must(t, os.WriteFile(s.scriptPath(), []byte(script), 0o600))
	s.start()
	t.Cleanup(func() { s.process.Stop() })
	created := interoptest.Call[protocol.CreateResult](
		t, s.nativeClient(), protocol.DoCreate, "", protocol.CreateData{Name: "abc"},
	)
	s.session = created.Session
	return s
}

func (s *testServer) scriptPath() string { return filepath.Join(s.dir, "agent.script") }

func (s *testServer) start() {
	s.t.Helper()
	s.process = interoptest.Serve(
		s.t, filepath.Join(s.dir, "data"), s.scriptPath(), "--listen-dialect", "sandcastle="+s.addr+",open",
	)
	u, err := url.Parse(s.process.Dialects["sandcastle"][0])
	interoptest.Must(s.t, err)
	s.addr = u.Host
}

func (s *testServer) kill() { s.process.Kill() }

// openGate lets the agent continue.
func (s *testServer) openGate() { interoptest.Must(s.t, os.WriteFile(s.gate, nil, 0o600)) }

// nativeClient connects with the native protocol.
func (s *testServer) nativeClient() *wsclient.Client {
	return interoptest.Connect(
		s.t, "unix://"+filepath.Join(s.dir, "data", "agentctl.sock"), wsclient.Options{Name: "ann"},
	)
}

// dialectClient connects to a Sandcastle server, agentctl's or a third-party one.
func dialectClient(t *testing.T, addr string, o wsclient.Options) *wsclient.Client {
	o.Dialect, o.Name = "sandcastle", "ada"
	return interoptest.Connect(t, "ws://"+addr+"/ws", o)
}
