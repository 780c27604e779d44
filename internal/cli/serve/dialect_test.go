package serve

import (
	"testing"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server"
)

func TestADialectsListenerIsReadStrictly(t *testing.T) {
	for text, want := range map[string]dialectListen{
		"myagent=127.0.0.1:0":           {Dialect: "myagent", Addr: "127.0.0.1:0"},
		"myagent=[::1]:9,role=operator": {Dialect: "myagent", Addr: "[::1]:9", Role: protocol.RoleOperator},
		"agentloop=localhost:1,open": {
			Dialect: "agentloop", Addr: "localhost:1", Open: true,
			Role: protocol.RoleApprover,
		},
		"sandcastle=localhost:1,role=observer,open": {
			Dialect: "sandcastle", Addr: "localhost:1", Open: true,
			Role: protocol.RoleObserver,
		},
	} {
		if got, err := parseDialectListen(text); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "myagent", "myagent=", "=127.0.0.1:0", "MyAgent=127.0.0.1:0", "myagent=127.0.0.1:0,",
		"myagent=127.0.0.1:0,Open",
		"myagent=127.0.0.1:0,role=", "myagent=127.0.0.1:0,role=king", "myagent=,open",
	} {
		if got, err := parseDialectListen(text); err == nil || exit.From(err).Status != exit.Usage {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
}

func TestOnlyLoopbackIsOpen(t *testing.T) {
	d := dialectListen{Dialect: "myagent", Addr: "0.0.0.0:0", Open: true}
	l, err := d.listen(server.TCPOptions{Token: "token", Insecure: true})
	if err == nil || exit.From(err).Status != exit.Usage {
		t.Errorf("%+v %v", l, err)
	}
}
