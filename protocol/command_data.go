package protocol

import (
	"encoding/json"
	"time"
)

// HistoryData requests finished turns before a seq (0: the newest). The answer holds them oldest
// first. Limit is 1 to 100 turns (0: 20); the answer also ends at about 1 MiB of events, or at
// Bytes.
type HistoryData struct {
	Before uint64 `json:"before,omitempty"`
	Limit  int    `json:"limit,omitempty"`

	// Bytes is the size of the answer in about bytes of events; 0, and at most: 1 MiB. It needs
	// Limits.HistoryBytes.
	Bytes int64 `json:"bytes,omitempty"`
}

// HistoryResult holds the joined events of whole turns. More means that older ones exist before
// First. A turn that is larger than an answer comes from its end: the first event is then none that
// starts a turn, and the next answers hold the events before it.
type HistoryResult struct {
	Epoch  string            `json:"epoch"`
	First  uint64            `json:"first,omitempty"`
	Last   uint64            `json:"last,omitempty"`
	More   bool              `json:"more,omitempty"`
	Events []json.RawMessage `json:"events"`
}

// BlobData requests a piece of a blob. Limit is at most 512 KiB (0: that much).
type BlobData struct {
	Blob   string `json:"blob"`
	Offset int64  `json:"offset,omitempty"`
	Limit  int64  `json:"limit,omitempty"`
}

// BlobResult holds a piece of a blob.
type BlobResult struct {
	Blob      string `json:"blob"`
	MediaType string `json:"media_type,omitempty"`
	Bytes     int64  `json:"bytes"` // of the whole
	Offset    int64  `json:"offset"`
	Data      []byte `json:"data"` // base64
}

// CreateData creates a session. Agent is a configured agent, a preset, or an ad hoc command
// ("acp:COMMAND ARG…", "script:FILE"); empty: the server's default. Settings are applied before the
// first message. A Prompt, or its Parts, is sent in the same step.
//
// With Load the agent continues a session that it has stored itself, instead of a new one. An agent
// that cannot is answered unsupported with Check, or fails the first turn.
//
// The agent starts with the session. With Lazy it starts with the first message. With Check the
// answer waits until the agent is ready; if it cannot start, needs a login or refuses a setting,
// the command fails and there is no session.
type CreateData struct {
	Name            string            `json:"name,omitempty"` // unique among sessions, at most 128 bytes
	Title           string            `json:"title,omitempty"`
	Agent           string            `json:"agent,omitempty"`
	CWD             string            `json:"cwd,omitempty"`
	Env             map[string]string `json:"env,omitempty"` // never in the log; "": without the server's variable
	Settings        map[string]string `json:"settings,omitempty"`
	Policy          *PolicyFile       `json:"policy,omitempty"` // decides requests in place of a user
	Load            string            `json:"load,omitempty"`   // the agent's own id of a session to continue
	Labels          map[string]string `json:"labels,omitempty"`
	Lazy            bool              `json:"lazy,omitempty"`
	Check           bool              `json:"check,omitempty"`
	Prompt          string            `json:"prompt,omitempty"`
	Parts           []Part            `json:"parts,omitempty"` // of the prompt
	ClientMessageID string            `json:"client_message_id,omitempty"`
}

// CreateResult names the new session.
type CreateResult struct {
	Session  string      `json:"session"`
	Name     string      `json:"name,omitempty"`
	Position Position    `json:"position"`
	Message  *SendResult `json:"message,omitempty"` // of the prompt
}

// RenameData changes the fields that are not nil. An empty name removes the name.
type RenameData struct {
	Name  *string `json:"name,omitempty"`
	Title *string `json:"title,omitempty"`
}

// LabelData changes labels. An empty value removes the label. The limits are those of CheckLabels.
type LabelData struct {
	Labels  map[string]string `json:"labels"`
	Replace bool              `json:"replace,omitempty"` // remove all other labels
}

// LabelResult holds all labels of the session after the change.
type LabelResult struct {
	Labels map[string]string `json:"labels"`
}

// ConfigureData changes one setting of the agent.
type ConfigureData struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
}

// CloseData ends a session: its turn is interrupted and its agent stopped. Delete removes all its
// data, and the git worktree that was made for it, unless that has work of its own.
type CloseData struct {
	Reason       string `json:"reason,omitempty"`
	Delete       bool   `json:"delete,omitempty"`
	KeepWorktree bool   `json:"keep_worktree,omitempty"`
}

// CloseResult names the git worktree of a deleted session if it stays.
type CloseResult struct {
	Worktree string `json:"worktree,omitempty"` // its directory
	Reason   string `json:"reason,omitempty"`   // why it stays
}

// SendData sends a user's message. Text or Parts is required.
type SendData struct {
	Text            string `json:"text"`
	Parts           []Part `json:"parts,omitempty"`
	ClientMessageID string `json:"client_message_id,omitempty"`
	Front           bool   `json:"front,omitempty"` // ahead of the queue
	// NotBefore schedules the message: it enters the queue then. Nil or past: now.
	NotBefore *time.Time `json:"not_before,omitempty"`
}

// Statuses of a send.
const (
	SendStarted   = "started"
	SendQueued    = "queued"
	SendScheduled = "scheduled"
)

// SendResult reports that the message's turn started, or that it is queued at Index.
type SendResult struct {
	Status    string `json:"status"`
	MessageID string `json:"message_id"`
	Turn      string `json:"turn,omitempty"`  // when started
	Index     *int   `json:"index,omitempty"` // when queued
	Seq       uint64 `json:"seq,omitempty"`   // of the event that records it
}

// Effects of an interrupt on the queue.
const (
	QueueKeep  = "keep" // the next message starts
	QueueHold  = "hold"
	QueueClear = "clear"
)

// InterruptData ends the turn under way. If Turn is set and another turn runs, nothing happens.
type InterruptData struct {
	Turn  string `json:"turn,omitempty"`
	Queue string `json:"queue,omitempty"` // keep (default), hold, clear
}

// InterruptResult is answered once turn.ended is visible. Interrupted is false if the turn was
// over.
type InterruptResult struct {
	Interrupted bool   `json:"interrupted"`
	Turn        string `json:"turn,omitempty"`
}

// QueueEditData replaces a queued message's text and parts, and lifts the caller's edit hold on it.
type QueueEditData struct {
	MessageID string `json:"message_id"`
	Text      string `json:"text"`
	Parts     []Part `json:"parts,omitempty"`
}

// QueueRemoveData removes a queued message.
type QueueRemoveData struct {
	MessageID string `json:"message_id"`
}

// QueueRemoveResult reports whether the message was queued.
type QueueRemoveResult struct {
	Removed bool `json:"removed"`
}

// QueueMoveData moves a message to an index from the front.
type QueueMoveData struct {
	MessageID string `json:"message_id"`
	Index     int    `json:"index"`
}

// QueueHoldData holds the queue. With MessageID it holds only that message, with the reason edit,
// until 30 s after the connection closed.
type QueueHoldData struct {
	MessageID string `json:"message_id,omitempty"`
}

// QueueHoldResult names the hold.
type QueueHoldResult struct {
	Hold string `json:"hold"`
}

// QueueReleaseData lifts one hold, or all except edit holds of other users.
type QueueReleaseData struct {
	Hold string `json:"hold,omitempty"`
}

// QueueReleaseResult lists the lifted holds.
type QueueReleaseResult struct {
	Released []string `json:"released"`
}

// ApproveData decides a request, by option or by decision. An empty Request means the only pending
// one.
type ApproveData struct {
	Request  string         `json:"request,omitempty"`
	Decision Decision       `json:"decision,omitempty"`
	Option   string         `json:"option,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Input    *ApprovalInput `json:"input,omitempty"`
}

// ApproveResult reports how the request ended. After explain the request is still pending and
// Outcome is empty.
type ApproveResult struct {
	Request  string   `json:"request"`
	Outcome  Outcome  `json:"outcome,omitempty"`
	Decision Decision `json:"decision"`
	Rule     *Rule    `json:"rule,omitempty"`
}

// RulesResult lists a session's rules.
type RulesResult struct {
	Rules []Rule `json:"rules"`
}

// RulesRevokeData names a rule.
type RulesRevokeData struct {
	Rule string `json:"rule"`
}

// TaskIDData names a task of the plan.
type TaskIDData struct {
	Task string `json:"task"`
}

// PlanRunData runs the given tasks without a planning step.
type PlanRunData struct {
	Tasks    []Task `json:"tasks"`
	Question string `json:"question,omitempty"`
	Summary  string `json:"summary,omitempty"`
}

// ContextResult reports the usage of the agent's context.
type ContextResult struct {
	Context ContextInfo   `json:"context"`
	Usage   *Usage        `json:"usage,omitempty"`
	Parts   []ContextPart `json:"parts,omitempty"`
}

// A ContextPart is a kind of content and the tokens that it takes of the context, estimated.
type ContextPart struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// CompactResult reports the effect of a compaction.
type CompactResult struct {
	Compacted ContextCompactedData `json:"compacted"`
}

// UndoResult reports what the agent forgot: its last turn with that message. Restored are files
// that are again as before it. Kept are files that were changed since, and were left as they are.
type UndoResult struct {
	Turn     string   `json:"turn"`
	Message  Message  `json:"message"`
	Restored []string `json:"restored,omitempty"`
	Kept     []string `json:"kept,omitempty"`
}

// ForkData makes a new session of the turns through one, or of those before it. The turn is an id,
// or a number counted from 1; empty: the last finished turn.
type ForkData struct {
	Turn   string `json:"turn,omitempty"`
	Before bool   `json:"before,omitempty"`
	Name   string `json:"name,omitempty"`
}

// ExportResult holds a signed state, the input of restore.
type ExportResult struct {
	State   SignedState `json:"state"`
	Expires time.Time   `json:"expires"`
}

// A SignedState is an exported session. State is opaque: a server restores what it signed itself,
// what a server with the same secret signed, and what a server signed whose public key it accepts.
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
