package protocol_test

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// A client keeps the state of a session by applying its events.
func ExampleState_Apply() {
	lines := []string{
		`{"session":"s_1","seq":1,"time":"2026-03-01T09:00:00Z","type":"session.created","data":{"agent":"claude"}}`,
		`{"session":"s_1","seq":2,"turn":"t_1","time":"2026-03-01T09:00:01Z","type":"message.user",` +
			`"data":{"message_id":"m_1","text":"why is CI red?"}}`,
		`{"session":"s_1","seq":3,"turn":"t_1","time":"2026-03-01T09:00:01Z","type":"turn.started",` +
			`"data":{"message_id":"m_1"}}`,
	}
	var state protocol.State
	for _, line := range lines {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			fmt.Println(err)
			return
		}
		if err := state.Apply(&e); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(state.Seq, state.Status())
	}
	// Output:
	// 1 idle
	// 2 running
	// 3 running
}
