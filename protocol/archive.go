package protocol

import (
	"encoding/json"
	"time"
)

// Types of the events of exported states.
const (
	StateExported Type = "state.exported"
	StateRestored Type = "state.restored"
)

var archiveEvents = []EventType{
	{
		Type: StateExported, New: of[StateExportedData],
		line: func(*Event) Line { return Line{Level: LevelInfo, Text: "state exported"} },
	},
	{
		Type: StateRestored, New: of[StateRestoredData],
		Sample: `{"session":"s_0","position":"e:7","exported":"2026-03-01T09:00:00Z"}`,
		line: func(e *Event) Line {
			return Line{Level: LevelInfo, Text: "state restored from session " + dataOf[StateRestoredData](e).Session}
		},
	},
}

// Commands about exported sessions.
const (
	DoExport  Verb = "export"
	DoRestore Verb = "restore"
	DoImport  Verb = "import"
)

var archiveCommands = []CommandType{
	{
		Verb: DoExport, Data: of[Empty], Result: of[ExportResult], Role: RoleObserver, Session: true,
		Words: "exporting the state of a session",
		Routes: []Route{
			{
				Name: "exportState", Method: "POST", Path: "/api/sessions/{id}/export",
				Summary: "Export a signed state, for restoreSession.",
			},
		},
	},
	{
		Verb: DoRestore, Data: of[RestoreData], Result: of[CreateResult], Role: RoleOperator, Changes: true,
		Words: "restoring the state of a session",
		Examples: [2]string{
			`{"state":{"version":"1","state":"e30=","signature":"s"}}`,
			`{"state":{"version":"1","state":"e30=","signature":"s"},"name":"n"}`,
		},
		Routes: []Route{
			{
				Name: "restoreSession", Method: "POST", Path: "/api/sessions/restore",
				Summary: "Create a session from an exported state.", Created: true,
			},
		},
	},
	{
		Verb: DoImport, Data: of[ImportData], Result: of[CreateResult], Role: RoleOperator, Changes: true,
		Words:    "importing a session",
		Examples: [2]string{`{"events":[]}`, `{"events":[],"left_out":1}`},
		Routes: []Route{
			{
				Name: "importSession", Method: "POST", Path: "/api/sessions/import",
				Summary: "Create a session from the events of another server.", Created: true,
			},
		},
	},
}

// ExportResult holds a signed state, the input of restore.
type ExportResult struct {
	State   SignedState `json:"state"`
	Expires time.Time   `json:"expires"`
}

// A SignedState is an exported session. State is opaque: a server restores states that it signed
// itself, and states of servers that share its secret or whose public key it accepts.
type SignedState struct {
	Version   string `json:"version"`
	State     []byte `json:"state"` // base64
	Signature string `json:"signature"`

	// The signer's public Ed25519 key and its signature, in base64.
	Key          []byte `json:"key,omitempty"`
	KeySignature []byte `json:"key_signature,omitempty"`
}

// RestoreData creates a session from an exported one.
type RestoreData struct {
	State SignedState `json:"state"`
	Name  string      `json:"name,omitempty"`
}

// ImportData creates a session whose past is events of a log, which no server needs to have signed.
type ImportData struct {
	CreateData

	Events  []json.RawMessage `json:"events"`             // of finished turns, and notices between them, in order
	LeftOut int               `json:"left_out,omitempty"` // finished turns before them
}

// StateExportedData is the data of state.exported. Bytes is the size of the signed state.
type StateExportedData struct {
	Expires time.Time `json:"expires"`
	Bytes   int       `json:"bytes"`
}

// StateRestoredData is the data of state.restored: the session continues an exported one.
type StateRestoredData struct {
	Session  string    `json:"session"` // the exported one
	Position Position  `json:"position"`
	Exported time.Time `json:"exported"`
}
